import { afterEach, beforeEach } from 'vitest'
import type { StoredEntry } from '../../src/lines/entry-chunks.ts'
import type { Op } from '../../src/core/change-lines.ts'
import { getEtag, getValue } from '../../src/core/stored-value.ts'
import type { KvRange, KvScan, KvStore, KvWrite } from '../../src/store/store.ts'

export const toPut = (key: string, value: string): Op => ({
  type: 'put',
  key: Buffer.from(key),
  value: Buffer.from(value),
})
export const toDelete = (key: string): Op => ({ type: 'del', key: Buffer.from(key) })

/** Opens a new, empty store before each test, and returns functions that use it. */
export function useStore(open: () => Promise<KvStore>) {
  let store: KvStore
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  /** Resolves with the revision; `undefined` if the condition did not hold. */
  const submit = (one: KvWrite) => store.write(one, (revision) => revision)
  const write = (...ops: Op[]) => submit({ ops, durable: false })
  const condition = (condition: object, ...ops: Op[]) => submit({ ops, condition, durable: false })
  const find = (key: string) => {
    const stored = store.find(key)
    return stored === undefined ? undefined : Buffer.from(getValue(stored))
  }
  const read = (key: string) => find(key)?.toString()
  const readTag = (key: string) => getEtag(store.find(key)!)

  async function readAll(range: KvRange): Promise<StoredEntry[]> {
    const snapshot = store.snapshot()
    const found = await readRest(snapshot.scan(range))
    await snapshot.close()
    return found
  }
  async function readRest(scan: KvScan): Promise<StoredEntry[]> {
    const found: StoredEntry[] = []
    for (let slice = await scan.next(); slice.length > 0; slice = await scan.next()) found.push(...slice)
    await scan.close()
    return found
  }
  const keys = async (range: KvRange) => (await readAll(range)).map(([key]) => key)

  return {
    /** Returns the store of the present test. */
    getStore: () => store,
    submit,
    write,
    condition,
    find,
    read,
    readTag,
    readAll,
    readRest,
    keys,
  }
}
