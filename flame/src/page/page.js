// This script runs in the page of `html.ts`, after d3 and d3-flame-graph.
/* global d3, flamegraph */

const { frames, tree, total, unit } = JSON.parse(document.querySelector('#data').textContent)
const byId = (id) => document.querySelector(`#${id}`)
const colors = Object.fromEntries(
  ['app', 'dependency', 'node', 'native'].map((name) => [
    name,
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim(),
  ]),
)

/** Unpacks a node `[frame, value, callees]`. `callees` is absent if there are none. */
function unpack([index, value, callees]) {
  const [name, file, line, category] = frames[index]
  const where = file && (line ? `${file}:${line}` : file)
  return { name, where, category, value, children: (callees ?? []).map(unpack) }
}

const sizes = ['B', 'KB', 'MB', 'GB']
function amount(value) {
  if (unit === 'samples') return `${value} samples`
  const power = Math.min(sizes.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3))
  return `${(value / 1000 ** power).toFixed(power ? 1 : 0)} ${sizes[power]}`
}
const share = (value) => `${((100 * value) / Math.max(1, total)).toFixed(2)} %`

/** Returns a lighter or darker color that depends on the name, so that neighbouring frames look different. */
function shade(category, name) {
  let hash = 0
  for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)) % 997
  return `color-mix(in oklab, ${colors[category]} ${68 + (hash % 33)}%, white)`
}

const holder = byId('chart')
const chart = flamegraph
  .default()
  .width(holder.clientWidth)
  .cellHeight(19)
  .minFrameSize(1)
  .transitionDuration(250)
  .inverted(true)
  .sort((a, b) => b.value - a.value)
  .selfValue(false)
  .setColorMapper((node) => (node.highlight ? '#c2185b' : shade(node.data.category, node.data.name)))
  .setLabelHandler(({ data }) => `${data.name}  ${data.where}  ${share(data.value)}, ${amount(data.value)}`)
  .setSearchMatch(
    ({ data }, term) => term !== '' && `${data.name} ${data.where}`.toLowerCase().includes(term.toLowerCase()),
  )
  .setSearchHandler((results, sum) => {
    byId('details').textContent = results.length > 0 ? `found: ${share(sum)}, ${amount(sum)}` : 'no match'
  })
chart.setDetailsElement(byId('details'))
d3.select('#chart').datum(unpack(tree)).call(chart)
