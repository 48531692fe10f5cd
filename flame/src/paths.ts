import { fileURLToPath } from 'node:url'

/** Path of the repository, with a `/` at its end. Committed files must not contain it. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Folder of all snapshots. */
export const FLAME_FOLDER = fileURLToPath(new URL('../', import.meta.url))

export const PROFILED_SERVICE_SCRIPT = fileURLToPath(new URL('./recording/profiled-service.ts', import.meta.url))
