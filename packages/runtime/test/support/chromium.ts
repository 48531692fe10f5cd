import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const SYSTEM_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** The npm package that ships the program, and the libraries that it needs. */
const PACKAGE = '@sparticuz/chromium'
const VERSION = '147.0.0'
// Folder of its fonts. The package's own file has another path, and without a font the program crashes at the first
// text.
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>
`
const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/', import.meta.url))

/** Command and environment of a browser for tests. */
export interface Chromium {
  readonly executablePath: string
  readonly env: Record<string, string>
}

/**
 * Finds the browser that `CHROMIUM` names, an installed one, or one from the npm registry, which goes into the cache of
 * the checkout (65 MB). `CHROMIUM=npm` always takes the one from the registry.
 * @throws Error if there is none and none can be installed
 */
export async function findChromium(named = process.env.CHROMIUM): Promise<Chromium> {
  const { env } = process as { env: Record<string, string> }
  const found = named === 'npm' ? undefined : [named ?? '', ...SYSTEM_PATHS].find((path) => path && existsSync(path))
  if (found) return { executablePath: found, env }
  const folder = join(CACHE, `chromium-${VERSION}`)
  if (!existsSync(folder))
    await install(folder).catch((cause) => {
      throw new Error('these tests need a browser: install the package "chromium", or name it in CHROMIUM', { cause })
    })
  const libraries = { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'), FONTCONFIG_PATH: join(folder, 'fonts') }
  return { executablePath: join(folder, 'chromium'), env: { ...env, ...libraries } }
}

/**
 * Unpacks the package into the folder for temporary files. It unpacks its libraries only if it detects its intended
 * platform.
 */
async function install(folder: string): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error(`${PACKAGE} is for Linux on x64`)
  mkdirSync(CACHE, { recursive: true })
  // Several test files may install it at once: each makes a copy, and the first copy stays.
  const making = mkdtempSync(join(CACHE, 'chromium-'))
  try {
    writeFileSync(
      join(making, 'package.json'),
      JSON.stringify({ type: 'module', dependencies: { [PACKAGE]: VERSION } }),
    )
    const run = promisify(execFile)
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: making })
    const unpack = `import chromium from '${PACKAGE}'; await chromium.executablePath()`
    const env = { ...process.env, TMPDIR: making, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' }
    await run(process.execPath, ['--input-type=module', '-e', unpack], { cwd: making, env })
    writeFileSync(join(making, 'fonts', 'fonts.conf'), FONTS)
    rmSync(join(making, 'node_modules'), { recursive: true })
    renameSync(making, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}
