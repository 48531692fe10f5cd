// Runs in the browser, in the page that difference-page.ts makes, after d3 and d3-flame-graph.
/* global d3, flamegraph */

const { frames, tree, perSample, unit } = JSON.parse(document.querySelector('#data').textContent)
const byId = (id) => document.querySelector(`#${id}`)

/** A node is `[frame, own, base, callees]`, with samples of the function itself; callees are absent if there are none. */
function unpack([index, own, base, callees = []]) {
  const [name, file, line] = frames[index]
  const children = callees.map(unpack)
  const sum = (side, self) => children.reduce((total, child) => total + child.total[side], self)
  const where = file && (line ? `${file}:${line}` : file)
  return { name, where, self: { own, base }, total: { own: sum('own', own), base: sum('base', base) }, children }
}
const root = unpack(tree)

/** Times per unit (us) of `self` or `total`, with the noise of their change. */
function measure({ own, base }) {
  const times = { own: own * perSample.own, base: base * perSample.base }
  const noise = 2 * Math.sqrt(times.own * perSample.own + times.base * perSample.base)
  return { ...times, noise, change: times.own - times.base }
}

/** Largest change of any frame: the strongest colour. */
const findLargest = (node, scope) =>
  node.children.reduce(
    (largest, child) => Math.max(largest, findLargest(child, scope)),
    Math.abs(measure(node[scope]).change),
  )
const largest = { self: findLargest(root, 'self'), total: findLargest(root, 'total') }

let scope = 'total'
let side = 'own'

/**
 * The colour of a frame: grey within the noise, otherwise stronger for a larger change. The library's own mapper divides a
 * change by the width of the frame, so the noise of narrow frames would have the strongest colours.
 */
function getColor({ highlight, data }) {
  if (highlight) return 'var(--found)'
  const { change, noise } = measure(data[scope])
  if (Math.abs(change) <= noise) return 'var(--neutral)'
  const strength = 25 + 75 * Math.sqrt(Math.abs(change) / largest[scope])
  return `color-mix(in oklab, var(--${change > 0 ? 'dearer' : 'cheaper'}) ${strength.toFixed()}%, var(--neutral))`
}

const format = (time) => time.toFixed(Math.abs(time) < 10 ? 3 : 1)
const formatChange = ({ own, base, change, noise }) =>
  `${format(own)} us, base ${format(base)} us: ${change < 0 ? '-' : '+'}${format(Math.abs(change))} us (± ${format(noise)})`
const formatLabel = ({ data }) =>
  `${data.name}  ${data.where}  per ${unit} ${formatChange(measure(data.total))}; itself ${formatChange(measure(data.self))}`

const holder = byId('chart')
const chart = flamegraph
  .default()
  .width(holder.clientWidth)
  .cellHeight(19)
  .minFrameSize(1)
  .transitionDuration(250)
  .inverted(true)
  .resetHeightOnZoom(true)
  .sort((a, b) => b.data.total[side] - a.data.total[side])
  .selfValue(false)
  // The library calls this function with the data of a frame, and in a search with the frame itself.
  .getValue((one) => (one.data ? one.value : one.total[side]))
  .setColorMapper(getColor)
  .setLabelHandler(formatLabel)
  .setSearchMatch(
    ({ data }, term) => term !== '' && `${data.name} ${data.where}`.toLowerCase().includes(term.toLowerCase()),
  )
  .setSearchHandler((results, sum) => {
    const time = format(sum * perSample[side])
    byId('details').textContent = results.length > 0 ? `found: ${time} us per ${unit}` : 'found nowhere'
  })
chart.setDetailsElement(byId('details'))
d3.select('#chart').datum(root).call(chart)

byId('scope').addEventListener('change', (event) => {
  scope = event.target.value
  chart.update()
})
byId('width').addEventListener('change', (event) => {
  side = event.target.value
  chart.resetZoom()
})
