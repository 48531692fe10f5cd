import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const run = promisify(execFile)

/** The Node of this machine, which is often older than that of the workspace and cannot load TypeScript. */
export const MACHINE_NODE =
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => join(folder, 'node'))
    .find((path) => existsSync(path)) ?? process.execPath

/** Packs the client and installs the tarball in an empty project, without the network. @returns the project's folder */
export async function installPackedClient(): Promise<string> {
  const project = createTemporaryFolder()
  await run('npx', ['-y', 'pnpm@12.21.0', 'pack:js', '--pack-destination', project], { cwd: ROOT })
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
  const { version } = await import('../../package.json', { with: { type: 'json' } }).then((file) => file.default)
  const tarball = `./influencer-stats-client-${version}.tgz`
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: project })
  return project
}
