/* global createChart, createDifferenceView, createProfileView, parseFile */

const byId = (id) => document.querySelector(`#${id}`)

function createElement(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

function createSwatch(color) {
  const swatch = createElement('span', { className: 'swatch' })
  swatch.style.background = `var(--${color})`
  return swatch
}

/** Creates an entry of the legend. @param color its variable of the stylesheet, without `--` */
// oxlint-disable-next-line no-unused-vars -- another script uses it
const createKey = (color, text) => createElement('span', { className: 'key' }, createSwatch(color), text)

/** Creates a row: a function with its colour and its file, or a text, and cells with numbers. */
function createRow({ color, name, where, tag, text, cells }) {
  const numbers = cells.map((cell) => createElement('td', { className: 'number' }, cell))
  if (text !== undefined) return createElement('tr', {}, createElement('td', {}, text), ...numbers)
  const label = createElement('td', {}, createSwatch(color), createElement('code', {}, name))
  label.append(' ', createElement('span', { className: 'where' }, where))
  if (tag) label.append(' ', createElement('span', { className: 'tag' }, tag))
  const row = createElement('tr', { className: 'function' }, label, ...numbers)
  row.addEventListener('click', () => {
    byId('search').value = name
    byId('search').dispatchEvent(new Event('input'))
    scrollTo({ top: 0, behavior: 'smooth' })
  })
  return row
}

function createTable({ id = '', title, heads: [first, ...heads], rows }) {
  const cells = heads.map((text) => createElement('th', { className: 'number' }, text))
  const head = createElement('tr', {}, createElement('th', {}, first), ...cells)
  const table = createElement('table', { id }, head, ...rows.map(createRow))
  const scroll = createElement('div', { className: 'scroll' }, table)
  return createElement('section', {}, createElement('h2', {}, title), scroll)
}

/** Reads the file inside the page. @throws Error if there is none, or if it is damaged */
async function readFile() {
  const text = byId('data').textContent.trim()
  if (text === '') throw new Error('it is empty')
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json()
}

function show(file) {
  const root = parseFile(file)
  const view = file.perSample ? createDifferenceView(file, root) : createProfileView(file)
  document.title = file.name
  document.querySelector('h1').textContent = file.name
  byId('description').textContent = file.description
  byId('legend').append(...view.legend)
  byId('tables').append(...view.tables.map(createTable))
  byId('details').textContent = view.emptyText ?? ''
  if (view.emptyText) return

  let searchResult = ''
  const showDetails = (text) => {
    byId('details').textContent = text || searchResult
  }
  const chart = createChart(byId('chart'), root, view, showDetails)
  function search(text) {
    const { count, value } = chart.search(text)
    searchResult = text === '' ? '' : count > 0 ? `found: ${view.formatValue(value)}` : 'no match'
    showDetails('')
  }
  view.connect?.(chart)
  byId('search').addEventListener('input', ({ target }) => search(target.value.trim()))
  byId('flip').addEventListener('click', () => chart.flip())
  byId('reset').addEventListener('click', () => {
    byId('search').value = ''
    search('')
    chart.resetZoom()
  })
}

readFile()
  .then(show)
  .catch((error) => {
    document.querySelector('h1').textContent = 'This flame graph cannot be shown'
    byId('description').textContent = `The file is damaged: ${error.message}.`
  })
