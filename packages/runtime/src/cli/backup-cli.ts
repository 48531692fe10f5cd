import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../errors/common-errors.ts'
import { ServiceError } from '../errors/service-error.ts'
import { getServiceUrl } from '../supervisor/service-url.ts'
import type { ServiceConfig } from '../settings/settings.ts'
import { print } from '../logging/cli-output.ts'
import type { AnyService, ServiceTable } from '../service.ts'
import { syncFolder } from '../level/data-format.ts'
import { parseArguments, type SettingFlag } from '../settings/arguments.ts'
import { assertKnownServices, resolveConfigs } from '../settings/resolve-config.ts'
import type { Backup } from '../backup/backup-format.ts'
import {
  findBackupsToDelete,
  INCOMPLETE_SUFFIX,
  toBackupFolder,
  type BackupRetention,
} from '../backup/backup-retention.ts'
import { restoreBackup, verifyBackup } from '../backup/restore-backup.ts'
import { saveBackup } from '../backup/save-backup.ts'

export interface BackupOptions {
  readonly services: ServiceTable
  readonly argv: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

const DAY_MS = 86_400_000
const FILE_EXTENSION = '.backup'
const getBackupFile = (folder: string, service: string) => join(folder, service + FILE_EXTENSION)

const VERIFY_COMMAND = 'verify'

const USAGE = `pnpm backup DIR [service...] [--setting value...]    writes DIR/SERVICE.backup for each running service
pnpm backup DIR --keep N --keep-days D ...           writes DIR/TIME/SERVICE.backup, then deletes folders of earlier
                                                     backups: all but the newest N, and those older than D days
pnpm backup verify FILE...                           reads backups, and checks them against their checksums
pnpm restore DIR [service...] [--setting value...]   creates data folders from these files; stop the services first
The settings are those of pnpm start. A backup contains all data of a service. The backup of the dashboard includes its
signing key and links: anyone who has it can sign in and read shared campaigns. Only the owner can read the files.
A backup that fails deletes no earlier one. One of the limits --keep and --keep-days is enough.
Exit status: 0 success, 1 failure of a service or a damaged file, 2 wrong usage.
`

interface BackupPlan {
  readonly folder: string
  readonly definitions: readonly AnyService[]
  readonly configs: ReadonlyMap<string, ServiceConfig>
  /** Undefined if each backup replaces the previous one. */
  readonly retention: BackupRetention | undefined
}

/** Splits the limits of earlier backups from the settings. @throws StartError `FLAG_WRONG` */
function takeRetention(flags: readonly SettingFlag[]): { retention: BackupPlan['retention']; settings: SettingFlag[] } {
  function read(name: string): number {
    const value = flags.findLast((flag) => flag.name === name)?.value
    if (value === undefined) return Number.POSITIVE_INFINITY
    if (!/^[1-9]\d{0,5}$/.test(value)) throw new StartError('FLAG_WRONG', `--${name} ${value} is not a number from 1`)
    return Number(value)
  }
  const [count, days] = [read('keep'), read('keepDays')]
  const settings = flags.filter(({ name }) => name !== 'keep' && name !== 'keepDays')
  const hasLimit = Number.isFinite(Math.min(count, days))
  return { retention: hasLimit ? { count, age: days * DAY_MS } : undefined, settings }
}

/**
 * Reads the arguments. If they name no service, `listDefaults` returns the names of the services.
 * @returns the plan, or the exit code if there is nothing to do
 */
async function parsePlan(
  { services, argv, env }: BackupOptions,
  listDefaults: (folder: string) => string[],
): Promise<BackupPlan | number> {
  try {
    const { services: positionals, flags, instead } = parseArguments(argv)
    const [folder, ...givenNames] = positionals
    if (instead || folder === undefined) {
      print(USAGE, instead ? 1 : 2)
      return instead ? 0 : 2
    }
    const names = givenNames.length > 0 ? givenNames : listDefaults(folder)
    assertKnownServices(names, services)
    const definitions = await Promise.all(names.map((name) => services[name]!()))
    const { retention, settings } = takeRetention(flags)
    return { folder, definitions, configs: resolveConfigs(definitions, settings, env), retention }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    print(`${error.message}\n`)
    return 2
  }
}

function describeBackup({ head, end: { entries, sha256, at } }: Backup): string {
  const content = head.backup === 2 ? `cluster up to sequence ${head.position.seq}` : `${entries} entries`
  return `${content} as of ${at}, sha256 ${sha256}`
}

/** Runs `work` for each service, and continues after a failure. Resolves with the exit code. */
async function runForEach(
  definitions: readonly AnyService[],
  work: (definition: AnyService) => Promise<string>,
): Promise<number> {
  let code = 0
  for (const definition of definitions) {
    const { name } = definition
    try {
      print(`${name}: ${await work(definition)}\n`, 1)
    } catch (error) {
      code = 1
      print(error instanceof StartError ? `${error.message}\n` : `${name}: ${explainError(error)}\n`)
    }
  }
  return code
}

function explainError(error: unknown): string {
  if (error instanceof ServiceError || error instanceof StartError) return error.message
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message} (${cause.message || (cause as { code?: string }).code})` : message
}

/** `pnpm backup DIR`: writes one file for each service. `pnpm backup verify FILE...`: checks files. */
export async function runBackup(options: BackupOptions): Promise<number> {
  const [command, ...files] = options.argv
  if (command === VERIFY_COMMAND && files.length > 0 && !files.some((file) => file.startsWith('-')))
    return verifyFiles(files)
  const plan = await parsePlan(options, () => Object.keys(options.services))
  if (typeof plan === 'number') return plan
  const { folder, retention } = plan
  if (!retention) return writeBackups(plan, folder)
  const name = toBackupFolder(new Date())
  const draft = join(folder, name + INCOMPLETE_SUFFIX)
  const code = await writeBackups(plan, draft)
  if (code !== 0) return code
  renameSync(draft, join(folder, name))
  syncFolder(folder)
  for (const one of findBackupsToDelete(readdirSync(folder), name, retention)) {
    rmSync(join(folder, one), { recursive: true })
    print(`deleted ${join(folder, one)}\n`, 1)
  }
  return 0
}

/** Writes one file for each service to a folder. Resolves with the exit code. */
async function writeBackups({ definitions, configs }: BackupPlan, folder: string): Promise<number> {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    print(`${explainError(error)}\n`)
    return 1
  }
  const backedUp = definitions.filter(({ standsIn }) => !standsIn)
  return runForEach(backedUp, async ({ name }) => {
    const config = configs.get(name)!
    try {
      return describeBackup(await saveBackup(getServiceUrl(config), config.apiToken, getBackupFile(folder, name)))
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'NO_DATA') return 'has no data to back up'
      throw error
    }
  })
}

/** Reads each file, and checks it. Resolves with the exit code. */
async function verifyFiles(files: readonly string[]): Promise<number> {
  let code = 0
  for (const file of files) {
    try {
      const backup = await verifyBackup(file)
      const { head } = backup
      const format = head.backup === 1 ? `format ${head.format}, ` : ''
      print(`${file}: ${head.service}, ${format}${describeBackup(backup)}\n`, 1)
    } catch (error) {
      code = 1
      print(`${explainError(error)}\n`)
    }
  }
  return code
}

/** `pnpm restore DIR`: creates a data folder from each file, for services that do not run. */
export async function runRestore(options: BackupOptions): Promise<number> {
  const filesIn = (folder: string) => {
    if (!existsSync(folder)) throw new StartError('FOLDER_UNKNOWN', `folder ${folder} does not exist`)
    return readdirSync(folder).flatMap((name) =>
      name.endsWith(FILE_EXTENSION) ? [name.slice(0, -FILE_EXTENSION.length)] : [],
    )
  }
  const plan = await parsePlan(options, filesIn)
  if (typeof plan === 'number') return plan
  const { folder, definitions, configs } = plan
  return runForEach(definitions, async ({ name, getNoRestoreReason }) => {
    const config = configs.get(name)!
    const reason = getNoRestoreReason?.(config)
    if (reason) throw new StartError('RESTORE_NOT_SUPPORTED', `${name}: ${reason}`)
    const { data } = config
    return `${describeBackup(await restoreBackup(name, getBackupFile(folder, name), data))}, in ${data}`
  })
}
