// `node scripts/install.mjs start|bench|all`: installs what a command of package.json needs, if it is not there yet. Plain
// JavaScript without a dependency, because it runs under whatever Node there is, before there is another.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PNPM = 'pnpm@12.21.0'
const ROOT = fileURLToPath(new URL('..', import.meta.url))
process.chdir(ROOT)

// Each has what those before it have.
const INSTALL_FLAGS = {
  start: ['--prod', '--filter', 'influencer-stats...'],
  bench: ['--prod', '--filter', 'influencer-stats...', '--filter', '@influencer-stats/bench...'],
  all: [],
}
const LEVELS = Object.keys(INSTALL_FLAGS)

/** What pnpm says of its last whole install. */
function lastInstall() {
  try {
    return JSON.parse(readFileSync('node_modules/.pnpm-workspace-state-v1.json', 'utf8'))
  } catch {
    return undefined
  }
}

/** How much is installed: the index of a level, -1 for nothing. */
function installedLevel(last) {
  if (!last) return -1
  if (!last.filteredInstall && last.settings?.dev) return LEVELS.indexOf('all')
  return LEVELS.indexOf(existsSync('bench/node_modules/autocannon') ? 'bench' : 'start')
}

/** What says which packages are needed. */
function manifests() {
  const folders = ['.', 'bench', 'chaos', 'flame', ...readdirSync('packages').map((name) => `packages/${name}`)]
  const own = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.pnpmfile.cjs']
  return [...own, ...folders.map((folder) => `${folder}/package.json`)].filter((file) => existsSync(file))
}

const isOld = ({ lastValidatedTimestamp }) =>
  manifests().some((file) => statSync(file).mtimeMs > lastValidatedTimestamp)

/** pnpm as it runs this script, else the one that is pinned. */
function pnpm() {
  const { npm_execpath: path = '' } = process.env
  if (!/pnpm[^/\\]*$/.test(path)) return ['npx', '-y', PNPM]
  return /\.[cm]?js$/.test(path) ? [process.execPath, path] : [path]
}

/** Runs pnpm, and shows of what it says one line that moves; all of it where it fails, or is asked for. */
async function install(level, isVerbose) {
  const [command, ...before] = pnpm()
  const args = [...before, 'install', '--frozen-lockfile', ...INSTALL_FLAGS[level], '--reporter=append-only']
  // How old each package of the lockfile is would be asked of the registry: 96 MB and a minute. They are pinned by hashes;
  // the check is for who changes the lockfile.
  const env = { ...process.env, pnpm_config_minimum_release_age: '0', INSTALL_LEVEL: level }
  const startedAt = Date.now()
  const seconds = () => `${((Date.now() - startedAt) / 1_000).toFixed(0)} s`
  const isTerminal = process.stderr.isTTY === true && !isVerbose
  let said = ''
  let step = ''
  const show = () => isTerminal && process.stderr.write(`\r\x1b[KInstalling${step}: ${seconds()}`)
  if (!isTerminal) process.stderr.write('Installing what is needed: this is once.\n')
  const timer = setInterval(show, 200)
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' })
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      if (isVerbose) process.stderr.write(text)
      said += text
      const [, resolved, reused, downloaded] = said.match(/.*resolved (\d+), reused (\d+), downloaded (\d+)/s) ?? []
      if (resolved) step = `, ${Number(reused) + Number(downloaded)} of ${resolved} packages`
    })
  }
  const code = await new Promise((resolve) => {
    child.once('error', (error) => resolve(String(error)))
    child.once('close', resolve)
  })
  clearInterval(timer)
  if (isTerminal) process.stderr.write('\r\x1b[K')
  if (code === 0) return process.stderr.write(`Installed in ${seconds()}.\n`)
  process.stderr.write(`${isVerbose ? '' : said}\nThe install failed (${code}).\n`)
  process.exit(1)
}

const last = lastInstall()
const installed = installedLevel(last)
const wanted = Math.max(installed, LEVELS.indexOf(process.argv[2]))
if (installed < wanted || isOld(last)) {
  await install(LEVELS[wanted], Boolean(process.env.VERBOSE))
}
