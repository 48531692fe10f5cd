import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of its own, removed with all that is in it when `using` lets go of it, or by `remove`. */
export const createTemporaryFolder = () => mkdtempDisposableSync(join(tmpdir(), 'influencer-stats-bench-'))
