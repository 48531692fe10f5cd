import { openKvLevel } from '../../src/store/level.ts'

/** What nobody reads. */
export const log = { error() {}, info() {} }

/** A folder's database as main opens it. */
export const openLevelOf = (folder: string) => openKvLevel(folder, 8, { log })
