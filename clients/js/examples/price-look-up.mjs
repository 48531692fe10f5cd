// Chooses values until one price is left, then looks it up: node price-look-up.mjs
import { createPricesClient } from '@influencer-stats/client/prices'

const { PRICES_URL = 'http://localhost:8084', API_TOKEN: token } = process.env
const prices = createPricesClient(PRICES_URL, { token })

const { offerings, groups, specs } = await prices.getFacets({ limit: 1 })
const search = {
  offeringId: offerings.values[0].value,
  groupId: groups.values[0].value,
  priceSpecId: specs.values[0].value,
  charValues: [],
}
for (;;) {
  const { count, characteristics } = await prices.getFacets(search)
  const chosen = new Set(search.charValues.map(({ char }) => char))
  const open = characteristics.values.find(({ char, values }) => !chosen.has(char) && values.length > 1)
  process.stdout.write(`${count} prices\n`)
  if (count < 2 || !open) break
  process.stdout.write(`${open.char}: ${open.values.map(({ value }) => value).join(', ')}\n`)
  search.charValues.push({ char: open.char, value: open.values[0].value })
}
const price = await prices.search(search)
process.stdout.write(price ? `${price.id}: ${price.value} ${price.currency}\n` : 'no price\n')
