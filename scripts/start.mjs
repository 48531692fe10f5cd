// The script of `pnpm start`. Plain JavaScript: for a TypeScript file that runs before the compile cache is enabled,
// Node would load its TypeScript compiler, which takes a third of a second more.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// The processes of services use the cache, too: each is ready 250 ms sooner, and 30 MB smaller.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url))
enableCompileCache()
await import('./start.ts')
