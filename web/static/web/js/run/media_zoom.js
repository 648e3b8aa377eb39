// Full-window view of an image; arrow keys show the previous and next image.

export function zoomIn(page, dialog) {
  const part = (name) => dialog.querySelector(`[data-part=${name}]`)
  const pictures = () => [...page.querySelectorAll("[data-part=zoom]")]
  let shown = null

  function show(picture) {
    shown = picture
    const frame = picture.firstElementChild.cloneNode(true)
    for (const image of frame.querySelectorAll("img")) image.loading = "eager"
    part("stage").replaceChildren(frame)
    part("title").textContent = picture.dataset.title
    if (!dialog.open) dialog.showModal()
    fit(frame)
    const place = pictures().indexOf(picture)
    part("previous").disabled = place <= 0
    part("next").disabled = place >= pictures().length - 1
  }

  // Fits the image to the window; CSS alone cannot upscale and keep the aspect ratio.
  function fit(frame) {
    const image = frame.querySelector("img")
    const { clientWidth, clientHeight } = part("stage")
    const [width, height] = [image.getAttribute("width"), image.getAttribute("height")].map(Number)
    const scale = Math.min(clientWidth / width, clientHeight / height)
    image.width = Math.round(width * scale)
    image.height = Math.round(height * scale)
  }

  function move(by) {
    const picture = pictures()[pictures().indexOf(shown) + by]
    if (picture) show(picture)
  }

  page.addEventListener("click", ({ target }) => {
    const picture = target.closest("[data-part=zoom]")
    if (picture) show(picture)
  })
  // On the document, because a disabled button loses focus.
  document.addEventListener("keydown", (event) => {
    if (!dialog.open) return
    if (event.key === "ArrowLeft") move(-1)
    else if (event.key === "ArrowRight") move(1)
  })
  dialog.addEventListener("close", () => {
    part("stage").replaceChildren()
    if (shown?.isConnected) shown.focus()
  })
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog || target === part("stage")) dialog.close()
  })
  part("previous").addEventListener("click", () => move(-1))
  part("next").addEventListener("click", () => move(1))
  part("close").addEventListener("click", () => dialog.close())
  window.addEventListener("resize", () => {
    if (dialog.open) fit(part("stage").firstElementChild)
  })
}
