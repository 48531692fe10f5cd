import { errors } from '@influencer-stats/runtime/errors'
import type { ClassicLevel } from 'classic-level'
import type { PageStore } from './catalog/catalog.ts'
import { PAGE_BYTES } from './core/answers.ts'

const padded = (number: number) => String(number).padStart(9, '0')

// A generation is a whole catalog; the one that `meta` names counts.
export const META = 'meta'
export const generationPrefix = (generation: number) => `g${padded(generation)}!`
export const answersKey = (generation: number, page: number) => `${generationPrefix(generation)}b!${padded(page)}`
export const rowsKey = (generation: number, page: number) => `${generationPrefix(generation)}s!${padded(page)}`
export const termKey = (generation: number, term: number) => `${generationPrefix(generation)}t!${padded(term)}`
export const kindKey = (generation: number, kind: number) => `${generationPrefix(generation)}k!${padded(kind)}`

/** Pieces of an import that has not ended yet, of a node of many. */
export const STAGED = { gte: 'i!', lt: 'i!~' } as const
export const stagedKey = (id: string, piece: number) => `i!${id}!${padded(piece)}`

/** Pages as they lie in LevelDB at the moment this is called: a snapshot, which costs next to nothing until closed. */
export function createPageStore(db: ClassicLevel, generation: number): PageStore {
  const snapshot = db.snapshot()
  return {
    read(number) {
      const found = db.getSync<string, Uint8Array>(answersKey(generation, number), { valueEncoding: 'view', snapshot })
      if (!found) {
        const cause = new Error(`page ${number} of generation ${generation} is missing`)
        throw errors.DATA_DAMAGED(undefined, { cause })
      }
      const bytes = new Uint8Array(PAGE_BYTES)
      bytes.set(found)
      return bytes
    },
    renew: () => createPageStore(db, generation),
    close: () => snapshot.close(),
  }
}
