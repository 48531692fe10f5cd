/* global createElement, createKey */

const OWN = 0
const BASE = 1

const formatTime = (microseconds) => microseconds.toFixed(Math.abs(microseconds) < 10 ? 3 : 1)
const formatChange = (change) => `${change < 0 ? '-' : '+'}${formatTime(Math.abs(change))}`

function createSelect(id, label, options) {
  const choices = Object.entries(options).map(([value, text]) => createElement('option', { value }, text))
  return createElement('label', {}, `${label} `, createElement('select', { id }, ...choices))
}

/** Describes the graph of two profiles: widths of one side, colours by the change. */
// oxlint-disable-next-line no-unused-vars -- another script uses it
function createDifferenceView({ unit, perSample, changes, names }, root) {
  const [ownName, baseName] = names ?? ['this checkout', 'base']
  const theBase = names ? baseName : 'the base'
  let scope = 'total'
  let side = OWN

  /** Times per unit (us) of `self` or `total`, with the noise of their change. */
  function measure(samples) {
    const [own, base] = samples.map((count, i) => count * perSample[i])
    return { own, base, change: own - base, noise: 2 * Math.sqrt(own * perSample[OWN] + base * perSample[BASE]) }
  }

  /** Largest change of any frame: the strongest colour. */
  const findLargest = (call, key) =>
    Math.max(
      Math.abs(measure(call[key]).change),
      ...Array.from(call.callees.values(), (callee) => findLargest(callee, key)),
    )
  const largest = { self: findLargest(root, 'self'), total: findLargest(root, 'total') }

  const getSide = ({ change, noise }) => (Math.abs(change) <= noise ? 'neutral' : change > 0 ? 'dearer' : 'cheaper')

  /** Grey within the noise, otherwise stronger for a larger change. */
  function getColor(call) {
    const measured = measure(call[scope])
    const strength = 25 + 75 * Math.sqrt(Math.abs(measured.change) / largest[scope])
    return `color-mix(in oklab, var(--${getSide(measured)}) ${strength.toFixed()}%, var(--neutral))`
  }

  const formatMeasured = ({ own, base, change, noise }) =>
    `${formatTime(own)} us, ${baseName} ${formatTime(base)} us: ${formatChange(change)} us (± ${formatTime(noise)})`

  const toRow = ({ frame: { name, file, line }, ...times }) => ({
    color: getSide(times),
    name,
    where: file === '' ? 'native code' : line > 0 ? `${file}:${line}` : file,
    tag: times.own === 0 ? `only in ${theBase}` : times.base > 0 ? '' : names ? `only in ${ownName}` : 'new',
    cells: [
      formatTime(times.own),
      formatTime(times.base),
      `${formatChange(times.change)} ± ${formatTime(times.noise)}`,
    ],
  })
  const heads = ['function', names ? ownName : 'here', baseName, 'change']
  const grown = changes.filter(({ change }) => change > 0).map(toRow)
  const shrunk = changes.filter(({ change }) => change < 0).map(toRow)
  return {
    legend: [
      createKey('dearer', `costs more than ${theBase}`),
      createKey('neutral', 'equal within the noise'),
      createKey('cheaper', `costs less than ${theBase}`),
      createSelect('width', 'Width', { own: ownName, base: baseName }),
      createSelect('scope', 'Colour', { total: 'with callees', self: 'function itself' }),
    ],
    getValue: ({ total }) => total[side],
    getColor,
    getLabel: ({ name, where, total, self }) =>
      `${name}  ${where}  per ${unit} ${formatMeasured(measure(total))}; itself ${formatMeasured(measure(self))}`,
    formatValue: (value) => `${formatTime(value * perSample[side])} us per ${unit}`,
    tables: [
      { id: 'grown', title: 'Grew most (self)', heads, rows: grown },
      { id: 'shrunk', title: 'Shrank most (self)', heads, rows: shrunk },
    ],
    /** Connects the controls of the legend to a chart. */
    connect(chart) {
      document.querySelector('#width').addEventListener('change', ({ target }) => {
        side = target.value === 'own' ? OWN : BASE
        chart.update()
        chart.resetZoom()
      })
      document.querySelector('#scope').addEventListener('change', ({ target }) => {
        scope = target.value
        chart.update()
      })
    },
  }
}
