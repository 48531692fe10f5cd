// Runs in the browser after page.js or difference.js, in the same script: the controls of their chart.
/* global byId, chart, holder */

function search(term) {
  if (term === '') chart.clear()
  else chart.search(term)
}

byId('search').addEventListener('input', (event) => search(event.target.value.trim()))
byId('reset').addEventListener('click', () => {
  byId('search').value = ''
  chart.clear()
  chart.resetZoom()
})
byId('flip').addEventListener('click', () => {
  chart.inverted(!chart.inverted())
  chart.resetZoom()
})
addEventListener('resize', () => chart.width(holder.clientWidth).update())

for (const row of document.querySelectorAll('tr[data-function]')) {
  row.addEventListener('click', () => {
    byId('search').value = row.dataset.function
    search(row.dataset.function)
    scrollTo({ top: 0, behavior: 'smooth' })
  })
}
