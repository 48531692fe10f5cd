import type { GoogleError } from '../../src/core/google-errors.ts'
import { parseCall } from '../../src/lists/list-call.ts'
import type { ListQuery } from '../../src/lists/list-query.ts'
import type { ListResource } from '../../src/lists/list-resource.ts'
import { renderList } from '../../src/lists/render-list.ts'
import { World, type WorldState } from '../../src/world/world.ts'

/** Time of the lists in tests (ms since 1970). */
export const NOW_MS = Date.UTC(2026, 0, 1)

export const createWorld = (state: Partial<WorldState> = {}): World =>
  new World({ faults: {}, uploads: [], items: [], channels: {}, ...state })

/** Returns the list that a query string selects. @throws GoogleError */
export function createList(
  resource: ListResource<any>,
  queryString: string,
  { world = createWorld(), time = NOW_MS }: { world?: World; time?: number } = {},
): any {
  const { query } = parseCall(resource, queryString)
  if (query instanceof Error) throw query satisfies GoogleError
  return JSON.parse(renderList(resource, query as ListQuery, { world, time }, false).body)
}
