// Recorded results have the names that tables and rows had when they were measured. These maps convert former names to
// the current ones.

/** Former name of each renamed table, by its current name. Services use the same names. */
const FORMER_TABLES: Readonly<Record<string, string>> = { 'server-adapters': 'door' }

/** Former and current words in the names of rows. */
const RENAMED_ROWS: readonly (readonly [former: string, current: string])[] = [
  ['beside other values', 'while values change'],
  ['beside new prices', 'while prices are added'],
  ['GET beside PUT', 'GET during PUT'],
  ['goleveldb behind net/http', 'goleveldb with net/http'],
  ['Redis behind webdis', 'Redis with webdis'],
]

/** Lists the names that the result files of a table can have, the current one first. */
export function listTableNames({ name }: { readonly name: string }): string[] {
  const former = FORMER_TABLES[name]
  return former === undefined ? [name] : [name, former]
}

/** Returns the current name of a recorded row. */
export const toCurrentRowName = (name: string): string =>
  RENAMED_ROWS.reduce((text, [former, current]) => text.replace(former, current), name)
