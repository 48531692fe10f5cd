/* global createKey */

const CATEGORIES = { app: 'this repository', dependency: 'packages', node: 'Node.js', native: 'native' }
const SIZES = ['B', 'KB', 'MB', 'GB']

const formatPercent = (share) => `${share.toFixed(2)} %`

/** Describes the graph of one profile: colours by origin, shares of functions and components. */
// oxlint-disable-next-line no-unused-vars -- another script uses it
function createProfileView({ profiles: [{ unit, endValue }], categories, functions, parts }) {
  function formatAmount(value) {
    if (unit === 'none') return `${value} samples`
    const power = Math.min(SIZES.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3))
    return `${(value / 1000 ** power).toFixed(power ? 1 : 0)} ${SIZES[power]}`
  }
  const formatValue = (value) => `${formatPercent((100 * value) / Math.max(1, endValue))}, ${formatAmount(value)}`

  /** Returns a lighter or darker colour that depends on the name, so that neighbouring frames look different. */
  function getColor({ category, name }) {
    let hash = 0
    for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)) % 997
    return `color-mix(in oklab, var(--${category}) ${68 + (hash % 33)}%, white)`
  }

  const toFunctionRow = ({ function: name, file, line, category, self, total }) => ({
    color: category,
    name,
    where: file ? `${file}:${line}` : 'native code',
    cells: [formatPercent(self), formatPercent(total)],
  })
  return {
    emptyText: endValue === 0 ? 'This thread had no work.' : '',
    legend: Object.entries(CATEGORIES).map(([key, name]) => createKey(key, `${name} ${categories[key].toFixed(1)} %`)),
    getValue: ({ total }) => total[0],
    getColor,
    getLabel: ({ name, where, total }) => `${name}  ${where}  ${formatValue(total[0])}`,
    formatValue,
    tables: [
      { title: 'Hottest functions', heads: ['function', 'self', 'total'], rows: functions.map(toFunctionRow) },
      {
        title: 'By component, including its native work',
        heads: ['component', 'share'],
        rows: parts.map(({ name, share }) => ({ text: name, cells: [formatPercent(share)] })),
      },
    ],
  }
}
