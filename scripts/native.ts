import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

// pnpm runs a package's own install script under whatever Node pnpm itself runs on, which gives a binary for the wrong
// one. So roaring's is not allowed, and this runs after the install, under the pinned Node: a prebuilt binary where one
// can be downloaded, else it compiles (g++, make and python3; 8 to 20 s).

const require = createRequire(new URL('../packages/prices/package.json', import.meta.url))

try {
  require('roaring')
} catch {
  const folder = dirname(require.resolve('roaring/package.json'))
  // The headers lie beside the pinned binary: no download.
  const headers = dirname(dirname(process.execPath))
  const { status } = spawnSync(
    process.execPath,
    [join(folder, 'node-pre-gyp.js'), 'install', '--fallback-to-build', `--nodedir=${headers}`],
    { cwd: folder, stdio: 'inherit', env: { ...process.env, npm_config_nodedir: headers } },
  )
  process.exitCode = status ?? 1
}
