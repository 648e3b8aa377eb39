// Sets the theme before anything is drawn, so that no page flashes in the other one.
document.documentElement.dataset.theme = localStorage.getItem("theme") ?? "auto"
