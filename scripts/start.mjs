// What `pnpm start` runs. Plain JavaScript, because Node's compiler of TypeScript would be loaded for a file that comes before
// the cache of what was compiled: a third of a second more.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// For the processes of services, too: each is ready 250 ms sooner, and 30 MB smaller.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url))
enableCompileCache()
await import('./start.ts')
