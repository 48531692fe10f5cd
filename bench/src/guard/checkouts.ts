import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { OWN_CHECKOUT } from '../targets/service.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

const { packageManager } = JSON.parse(readFileSync(join(OWN_CHECKOUT, 'package.json'), 'utf8')) as {
  packageManager: string
}
const MAX_OUTPUT_BYTES = 2 ** 26

const run = promisify(execFile)

/** A base commit, checked out and installed in a folder of its own. */
export interface BaseCheckout extends AsyncDisposable {
  readonly folder: string
}

const git = (...args: readonly string[]) => run('git', ['-C', OWN_CHECKOUT, ...args])

/** @throws Error if this repository does not have the commit */
async function assertCommit(commit: string): Promise<void> {
  await git('cat-file', '-e', `${commit}^{commit}`).catch(() => {
    throw new Error(`this clone has no commit "${commit}"; a shallow clone needs: git fetch --unshallow`)
  })
}

/** The commit or folder to compare with: as given, or the last release's tag, or the commit in `bench/guard-base`. */
export async function resolveBase(base: string | undefined): Promise<string> {
  if (base !== undefined) return base
  const tag = await git('describe', '--tags', '--abbrev=0').catch(() => undefined)
  return tag?.stdout.trim() ?? readFileSync(join(OWN_CHECKOUT, 'bench/guard-base'), 'utf8').trim()
}

/**
 * Checks out a commit into a temporary folder and installs its packages. A path of a folder is used as it is.
 * @throws Error if there is no such commit, or if its packages cannot be installed
 */
export async function checkOutBase(base: string): Promise<BaseCheckout> {
  if (existsSync(join(base, 'package.json'))) return { folder: base, [Symbol.asyncDispose]: async () => {} }
  await assertCommit(base)
  const { path, remove } = createTemporaryFolder()
  const folder = join(path, 'base')
  const checkout: BaseCheckout = {
    folder,
    async [Symbol.asyncDispose]() {
      await git('worktree', 'remove', '--force', folder).catch(() => {})
      remove()
    },
  }
  try {
    await git('worktree', 'add', '--detach', folder, base)
    await run('npx', ['-y', packageManager, 'install', '--frozen-lockfile'], {
      cwd: folder,
      maxBuffer: MAX_OUTPUT_BYTES,
    })
    return checkout
  } catch (error) {
    await checkout[Symbol.asyncDispose]()
    throw error
  }
}
