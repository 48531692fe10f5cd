import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

// pnpm runs the install script of a package under its own Node, which may give a binary for another version than the
// pinned one. So the script of roaring is disabled, and this one runs after the install, under the pinned Node. It
// downloads a prebuilt binary if there is one. Otherwise it compiles (g++, make and python3; 8 to 20 s), except for an
// install that only serves a start. Without a binary prices uses another index, so a failure is not fatal.

const require = createRequire(new URL('../packages/prices/package.json', import.meta.url))
const DOWNLOAD_TIMEOUT_MS = 10_000

function buildRoaring(...how: string[]): boolean {
  const folder = dirname(require.resolve('roaring/package.json'))
  // The headers are next to the pinned binary, so no download is necessary.
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
  process.stdout.write('roaring has no binary for this system; prices uses another index\n')
