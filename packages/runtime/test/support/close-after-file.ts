import { afterAll } from 'vitest'
import { closeAll } from './on-file-finished.ts'

// Vitest runs this file for each test file. A hook in the imported module would serve only the first file of a worker
// in the tier `unit`, whose files share modules.
afterAll(closeAll)
