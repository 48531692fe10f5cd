import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

// pnpm runs a package's own install script under whatever Node pnpm itself runs on, which gives a binary for the wrong
// one. So roaring's is not allowed, and this runs after the install, under the pinned Node: a prebuilt binary where one
// can be downloaded; else, unless no more than a start was asked for, it compiles (g++, make and python3; 8 to 20 s).
// Without a binary prices has another index, so this fails nothing.

const require = createRequire(new URL('../packages/prices/package.json', import.meta.url))
const DOWNLOAD_TIMEOUT_MS = 10_000

function buildRoaring(...how: string[]): boolean {
  const folder = dirname(require.resolve('roaring/package.json'))
  // The headers lie beside the pinned binary: no download.
  const headers = dirname(dirname(process.execPath))
  const isBuild = how.includes('--build-from-source')
  const { status } = spawnSync(
    process.execPath,
    [join(folder, 'node-pre-gyp.js'), 'install', ...how, `--nodedir=${headers}`],
    {
      cwd: folder,
      stdio: isBuild ? 'inherit' : 'ignore',
      env: { ...process.env, npm_config_nodedir: headers },
      ...(!isBuild && { timeout: DOWNLOAD_TIMEOUT_MS }),
    },
  )
  return status === 0
}

function hasRoaring(): boolean {
  try {
    require('roaring')
    return true
  } catch {
    return false
  }
}

if (!hasRoaring() && !buildRoaring() && (process.env.INSTALL_LEVEL === 'start' || !buildRoaring('--build-from-source')))
  process.stdout.write('roaring has no binary here: prices goes without it\n')
