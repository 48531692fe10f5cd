// Recorded results have the names of their run. These maps lead from them to the present names.

/** Former name of each renamed table, by its service and present name. */
const FORMER_TABLES: Readonly<Record<string, string>> = {
  'stats/server-adapters': 'door',
  'kv/server-adapters': 'door',
  'prices/server-adapters': 'door',
}

/** Former and present words of names of rows. */
const RENAMED_ROWS: readonly (readonly [former: string, present: string])[] = [
  ['beside other values', 'while values change'],
  ['beside new prices', 'while prices are added'],
  ['GET beside PUT', 'GET during PUT'],
  ['goleveldb behind net/http', 'goleveldb with net/http'],
  ['Redis behind webdis', 'Redis with webdis'],
]

/** Names that the result files of a table can have, the present one first. */
export function listTableNames({ service, name }: { readonly service: string; readonly name: string }): string[] {
  const former = FORMER_TABLES[`${service}/${name}`]
  return former === undefined ? [name] : [name, former]
}

/** Present name of a recorded row. */
export const toPresentRowName = (name: string): string =>
  RENAMED_ROWS.reduce((text, [former, present]) => text.replace(former, present), name)
