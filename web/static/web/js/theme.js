// Sets the theme before the first paint to avoid a flash.
document.documentElement.dataset.theme = localStorage.getItem("theme") ?? "auto"
