/** Number of offerings, and of the bandwidths of each: 600,000 prices and two more for each offering. */
export const OFFERINGS = 2_000
export const VALUES = 300

const DAY_MS = 86_400_000
/** A date. @param days from today */
export const toDate = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)

const CITIES = ['Berlin', 'Paris', 'Wien', 'Praha', 'Oslo', 'Roma', 'Madrid', 'Lisboa', 'Zürich', 'Kraków']
const KINDS = [
  'Fiber',
  'Copper',
  'Cloud',
  'Voice',
  'Mobile',
  'Backup',
  'Security',
  'Satellite',
  'Hosting',
  'Colocation',
]
const FORMS = ['Access', 'Link', 'Line', 'Desk', 'Connect']
const TERMS = ['12 months', '24 months', '36 months']

/** @param offering from 0 @returns a name such as Zürich Cloud Link 1128 */
export const toOfferingName = (offering: number): string =>
  [
    CITIES[offering % CITIES.length],
    KINDS[Math.floor(offering / CITIES.length) % KINDS.length],
    FORMS[Math.floor(offering / (CITIES.length * KINDS.length)) % FORMS.length],
    1_000 + offering,
  ].join(' ')

/**
 * The prices of an offering, a line each: one for each bandwidth of 10 to 3,000 Mbps, since 2020. That of 500 Mbps ended
 * yesterday, and another one began today. For 600 Mbps there is a second one, which began a month ago and ends in a month.
 */
function writeOffering(offering: number): string {
  const fields = { offeringId: toOfferingName(offering), groupId: 'Business', priceSpecId: 'Monthly', currency: 'EUR' }
  let count = 0
  function write(bandwidth: number, amount: string, validity: object): string {
    const id = [offering, count++].map((number) => number.toString(16).padStart(8, '0'))
    const charValues = [
      { char: 'Bandwidth', value: `${10 * bandwidth} Mbps` },
      { char: 'Term', value: TERMS[bandwidth % TERMS.length] },
    ]
    const price = { id: `${id[0]}-0000-4000-8000-0000${id[1]}`, ...fields, charValues, ...validity }
    // The amount has more digits than a number of JavaScript.
    return `${JSON.stringify(price).slice(0, -1)},"value":${amount}}\n`
  }
  const since2020 = Array.from({ length: VALUES }, (_, i) => {
    const validity = { from: '2020-01-01', ...(i + 1 === 50 && { to: toDate(-1) }) }
    return write(i + 1, `${21 + i}.00000000000000${1_000 + offering}`, validity)
  })
  return [
    ...since2020,
    write(50, '60.5', { from: toDate(0) }),
    write(60, '70.25', { from: toDate(-30), to: toDate(30) }),
  ].join('')
}

/** The lines of the catalog, an offering at a time. */
export async function* writeCatalog(): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for (let offering = 0; offering < OFFERINGS; offering++) yield encoder.encode(writeOffering(offering))
}
