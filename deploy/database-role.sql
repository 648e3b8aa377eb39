-- Gives Seamark a role that owns its database and is no superuser. PostgreSQL's image runs
-- this once, on an empty volume. docs/how-to/team-server.md explains when to run it by hand.
\set ON_ERROR_STOP on
\getenv password POSTGRES_PASSWORD

-- Volumes of earlier versions have `seamark` as superuser. It cannot rename itself.
SELECT current_user = 'seamark' AS is_superuser \gset
\if :is_superuser
    CREATE ROLE renaming SUPERUSER LOGIN;
    \connect - renaming
    ALTER ROLE seamark RENAME TO postgres;
    \connect - postgres
    DROP ROLE renaming;
\endif

CREATE ROLE seamark LOGIN PASSWORD :'password';
ALTER DATABASE seamark OWNER TO seamark;
DO $$
DECLARE
    name regclass;
BEGIN
    FOR name IN
        SELECT oid FROM pg_class
         WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
    LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO seamark', name);
    END LOOP;
END
$$;

-- The superuser connects only inside the container.
ALTER ROLE postgres PASSWORD NULL;
