import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Creates a folder. Disposal (`using`) or `remove` deletes it with its contents. */
export const createTemporaryFolder = () => mkdtempDisposableSync(join(tmpdir(), 'influencer-stats-bench-'))
