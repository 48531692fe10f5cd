import { getFirstPrice } from '@influencer-stats/prices/sample/sample-catalog'
import { createServiceTarget } from '../../targets/service.ts'
import type { LoadRequest } from '../../load/load-plan.ts'
import { SAMPLE, getCatalogSize } from '../../load/requests/catalogs.ts'
import { createCheckedRound } from '../../rounds/request-round.ts'
import type { BenchRow } from '../../row.ts'
import { createSpec, type Spec } from '../../spec.ts'
import type { ServiceTable } from '../../table.ts'

const CONNECTIONS = 4
const JSON_HEADERS = { 'content-type': 'application/json' }

const { id, offeringId, groupId, priceSpecId, charValues } = getFirstPrice()
/** Combinations of the first two characteristics of the sample, which have six and seven values. */
const COMBINATIONS = 42
const CATALOG_SIZE = getCatalogSize(SAMPLE)

const createFacetsRequest = (chosen: Readonly<Record<string, string>>): LoadRequest => ({
  method: 'GET',
  path: `/facets?${new URLSearchParams(chosen)}`,
})
const chooseValues = (count: number) => JSON.stringify(charValues.slice(0, count))

/** Creates a search for all prices that share offering, group, spec and `count` characteristics with the first. */
const createSearchAllRequest = (count: number, limit?: number): LoadRequest => ({
  method: 'POST',
  path: `/v1/search/bitmap/prices?all=true${limit === undefined ? '' : `&limit=${limit}`}`,
  headers: JSON_HEADERS,
  body: JSON.stringify({ offeringId, groupId, priceSpecId, charValues: charValues.slice(0, count) }),
})

/** @param includes text that every reply contains */
const createRow = (
  name: string,
  request: LoadRequest,
  includes: string,
  spec: Spec = createSpec('prices'),
): BenchRow => ({
  name,
  target: createServiceTarget(spec),
  ...createCheckedRound({
    says: `${CONNECTIONS} connections that request ${name}`,
    requests: [request],
    expect: { status: 200, includes },
    connections: CONNECTIONS,
  }),
})

export const tables: readonly ServiceTable[] = [
  {
    name: 'finding',
    title: `Facets of the sample catalog under the chosen conditions, and all prices that fit; ${CONNECTIONS} connections, one serving thread`,
    rows: () => [
      createRow('facets, nothing chosen', createFacetsRequest({}), `{"count":${CATALOG_SIZE},`),
      createRow(
        'facets, two characteristics chosen',
        createFacetsRequest({ charValues: chooseValues(2) }),
        `{"count":${CATALOG_SIZE / COMBINATIONS},`,
      ),
      createRow(
        'facets, all but one chosen',
        createFacetsRequest({ offeringId, groupId, priceSpecId, charValues: chooseValues(4) }),
        `"value":"${offeringId}"`,
      ),
      createRow(
        'facets, nothing chosen, roaring',
        createFacetsRequest({ index: 'roaring' }),
        '{"count":',
        createSpec('prices', '', { indexes: 'roaring' }),
      ),
      createRow('all that fit an offering, group and spec', createSearchAllRequest(0), `"id":"${id}"`),
      createRow('the first 100 of these', createSearchAllRequest(0, 100), '"currency":"USD"'),
    ],
  },
]
