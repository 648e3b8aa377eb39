// Shows the value of a slider next to it.
export default function rangeValue(slider) {
  slider.addEventListener("input", () => {
    slider.nextElementSibling.value = Number(slider.value).toFixed(2)
  })
}
