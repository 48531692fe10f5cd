import { firstPrice } from '@influencer-stats/prices/core/sample'
import { serviceContender } from '../contenders/service.ts'
import type { LoadRequest } from '../load/load.ts'
import { SAMPLE, sizeOf } from '../prices/catalogs.ts'
import { asked } from '../rounds/requests.ts'
import type { Row } from '../row.ts'
import { specOf, type Spec } from '../spec.ts'
import type { OwnTable } from './table.ts'

const CONNECTIONS = 4
const JSON_TYPE = { 'content-type': 'application/json' }

const { id, offeringId, groupId, priceSpecId, charValues } = firstPrice()
/** Of the sample's characteristics the first has six values, the second seven. */
const SIX_TIMES_SEVEN = 42
const SIZE = sizeOf(SAMPLE)

const facets = (chosen: Readonly<Record<string, string>>): LoadRequest => ({
  method: 'GET',
  path: `/facets?${new URLSearchParams(chosen)}`,
})
const choose = (count: number) => JSON.stringify(charValues.slice(0, count))

/** All prices of an offering, a group and a spec that have the first so many characteristics of the first one. */
const all = (count: number, limit?: number): LoadRequest => ({
  method: 'POST',
  path: `/v1/search/bitmap/prices?all=true${limit === undefined ? '' : `&limit=${limit}`}`,
  headers: JSON_TYPE,
  body: JSON.stringify({ offeringId, groupId, priceSpecId, charValues: charValues.slice(0, count) }),
})

/** @param includes a part that every answer has */
const row = (name: string, request: LoadRequest, includes: string, spec: Spec = specOf('prices')): Row => ({
  name,
  contender: serviceContender(spec),
  ...asked({
    says: `${CONNECTIONS} connections that ask for ${name}`,
    requests: [request],
    expect: { status: 200, includes },
    connections: CONNECTIONS,
  }),
})

export const tables: readonly OwnTable[] = [
  {
    name: 'finding',
    title: `Facets of the sample catalog under the conditions chosen so far, and all prices that fit; ${CONNECTIONS} connections, one serving thread`,
    rows: () => [
      row('facets, nothing chosen', facets({}), `{"count":${SIZE},`),
      row(
        'facets, two characteristics chosen',
        facets({ charValues: choose(2) }),
        `{"count":${SIZE / SIX_TIMES_SEVEN},`,
      ),
      row(
        'facets, all but one chosen',
        facets({ offeringId, groupId, priceSpecId, charValues: choose(4) }),
        `"value":"${offeringId}"`,
      ),
      row(
        'facets, nothing chosen, roaring',
        facets({ index: 'roaring' }),
        '{"count":',
        specOf('prices', '', { indexes: 'roaring' }),
      ),
      row('all that fit an offering, group and spec', all(0), `"id":"${id}"`),
      row('the first 100 of these', all(0, 100), '"currency":"USD"'),
    ],
  },
]
