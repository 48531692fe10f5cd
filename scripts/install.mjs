// `node scripts/install.mjs start|bench|all`: installs the packages that a command of package.json needs, unless they
// are already installed. `clinic` installs only clinic, in its own folder. Plain JavaScript without dependencies,
// because it runs before the install and under any version of Node.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PNPM = 'pnpm@12.21.0'
const ROOT = fileURLToPath(new URL('..', import.meta.url))
// clinic has more packages than the rest of the project, so it is a separate workspace with its own lockfile.
const CLINIC = 'clinic'
const isClinic = process.argv[2] === CLINIC
process.chdir(isClinic ? `${ROOT}flame/clinic` : ROOT)

// Each level includes the levels before it.
const INSTALL_FLAGS = {
  start: ['--prod', '--filter', 'influencer-stats...'],
  bench: ['--prod', '--filter', 'influencer-stats...', '--filter', '@influencer-stats/bench...'],
  all: [],
}
const LEVELS = isClinic ? [CLINIC] : Object.keys(INSTALL_FLAGS)

/** Reads pnpm's record of its last complete install. */
function lastInstall() {
  try {
    return JSON.parse(readFileSync('node_modules/.pnpm-workspace-state-v1.json', 'utf8'))
  } catch {
    return undefined
  }
}

/** Returns the index of the installed level, or -1 if no level is installed. */
function installedLevel(last) {
  if (!last) return -1
  if (isClinic) return 0
  if (!last.filteredInstall && last.settings?.dev) return LEVELS.indexOf('all')
  return LEVELS.indexOf(existsSync('bench/node_modules/autocannon') ? 'bench' : 'start')
}

/** Lists the files that define the needed packages. */
function manifests() {
  const packages = isClinic ? [] : readdirSync('packages').map((name) => `packages/${name}`)
  const folders = ['.', 'bench', 'chaos', 'flame', 'clients/js', ...packages]
  const own = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.pnpmfile.cjs']
  return [...own, ...folders.map((folder) => `${folder}/package.json`)].filter((file) => existsSync(file))
}

const isOld = ({ lastValidatedTimestamp }) =>
  manifests().some((file) => statSync(file).mtimeMs > lastValidatedTimestamp)

/** Returns the command of the running pnpm, otherwise of the pinned version. */
function pnpm() {
  const { npm_execpath: path = '' } = process.env
  if (!/pnpm[^/\\]*$/.test(path)) return ['npx', '-y', PNPM]
  return /\.[cm]?js$/.test(path) ? [process.execPath, path] : [path]
}

/** Runs pnpm and shows its progress in one line. Shows the complete output after a failure, or if `isVerbose`. */
async function install(level, isVerbose) {
  const [command, ...before] = pnpm()
  const args = [...before, 'install', '--frozen-lockfile', ...(INSTALL_FLAGS[level] ?? []), '--reporter=append-only']
  // pnpm would check the age of each package of the lockfile at the registry: 96 MB and a minute. The packages are
  // pinned by hashes. That check is for changes of the lockfile.
  const env = { ...process.env, pnpm_config_minimum_release_age: '0', INSTALL_LEVEL: level }
  const startedAt = Date.now()
  const seconds = () => `${((Date.now() - startedAt) / 1_000).toFixed(0)} s`
  const isTerminal = process.stderr.isTTY === true && !isVerbose
  let said = ''
  let step = ''
  const show = () => isTerminal && process.stderr.write(`\r\x1b[KInstalling${step}: ${seconds()}`)
  if (!isTerminal) process.stderr.write('Installing the required packages (only once).\n')
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
