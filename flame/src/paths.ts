import { fileURLToPath } from 'node:url'

/** The repository's folder, with a `/` at its end. No committed file may contain it. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The folder of all snapshots. */
export const FLAME_FOLDER = fileURLToPath(new URL('../', import.meta.url))

export const PROFILED_SERVICE_SCRIPT = fileURLToPath(new URL('./profiled-service.ts', import.meta.url))

/** The largest HTML that is committed (bytes). */
export const MAX_HTML_BYTES = 2_500_000
