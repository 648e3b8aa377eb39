// Image slider: data-steps holds pairs of step and digest in order of arrival, data-picture-url the
// URL prefix.
export default function imageSteps(element) {
  const steps = JSON.parse(element.dataset.steps)
  const slider = element.querySelector("input[type=range]")
  const output = element.querySelector("output")
  const image = element.querySelector("img")

  slider.addEventListener("input", () => {
    const [step, digest] = steps[slider.valueAsNumber]
    output.textContent = step
    image.src = element.dataset.pictureUrl + digest
  })
}
