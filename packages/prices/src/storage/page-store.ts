import { commonErrors } from '@influencer-stats/runtime/errors'
import type { Level } from 'level'
import type { PageStore } from '../answer-store/answer-store.ts'
import { PAGE_BYTES } from '../core/answer-block.ts'

const padNumber = (number: number) => String(number).padStart(9, '0')

// A generation is a whole catalog; `meta` names the current one. After the prefix of a generation, `b!` begins the key of a
// page of answers, `s!` of a page of rows, `t!` of a term, and `k!` of an answer word.
export const META_KEY = 'meta'
export const toGenerationPrefix = (generation: number) => `g${padNumber(generation)}!`
export const toAnswersKey = (generation: number, page: number) =>
  `${toGenerationPrefix(generation)}b!${padNumber(page)}`
export const toRowsKey = (generation: number, page: number) => `${toGenerationPrefix(generation)}s!${padNumber(page)}`
export const toTermKey = (generation: number, term: number) => `${toGenerationPrefix(generation)}t!${padNumber(term)}`
export const toWordKey = (generation: number, word: number) => `${toGenerationPrefix(generation)}k!${padNumber(word)}`

/** Pieces of an import that has not ended yet, on a node of a cluster. */
export const STAGED_RANGE = { gte: 'i!', lt: 'i!~' } as const
export const toStagedKey = (id: string, piece: number) => `i!${id}!${padNumber(piece)}`

/** Opens the pages in LevelDB as a snapshot of this moment. An open snapshot costs almost nothing. */
export function createPageStore(db: Level, generation: number): PageStore {
  const snapshot = db.snapshot()
  return {
    read(number) {
      const found = db.getSync<string, Uint8Array>(toAnswersKey(generation, number), {
        valueEncoding: 'view',
        snapshot,
      })
      if (!found) {
        const cause = new Error(`page ${number} of generation ${generation} is missing`)
        throw commonErrors.DATA_DAMAGED(undefined, { cause })
      }
      const bytes = new Uint8Array(PAGE_BYTES)
      bytes.set(found)
      return bytes
    },
    renew: () => createPageStore(db, generation),
    close: () => snapshot.close(),
  }
}
