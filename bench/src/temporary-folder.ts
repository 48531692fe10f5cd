import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Creates a folder. Disposal (`using`) or `remove` deletes it with its contents. @param parent the folder around it */
export const createTemporaryFolder = (parent = tmpdir()) =>
  mkdtempDisposableSync(join(parent, 'influencer-stats-bench-'))
