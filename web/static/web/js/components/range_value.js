// Writes beside a slider what it is set to.
export default function rangeValue(slider) {
  slider.addEventListener("input", () => {
    slider.nextElementSibling.value = Number(slider.value).toFixed(2)
  })
}
