import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../http/errors.ts'
import { ServiceError } from '../http/service-error.ts'
import { urlOf } from '../process/url-of.ts'
import type { Config } from '../process/messages.ts'
import { say } from '../process/say.ts'
import type { AnyService, ServiceTable } from '../service.ts'
import { parseArguments } from '../settings/arguments.ts'
import { resolveConfigs } from '../settings/config.ts'
import { BackupDamaged, type BackupEnd } from './format.ts'
import { restoreBackup } from './restore.ts'
import { saveBackup } from './save.ts'

export interface BackupOptions {
  readonly services: ServiceTable
  readonly argv: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

const ENDING = '.backup'
const fileOf = (folder: string, service: string) => join(folder, service + ENDING)

const USAGE = `pnpm backup DIR [service...] [--setting value...]    writes DIR/SERVICE.backup for each service that runs
pnpm restore DIR [service...] [--setting value...]   makes data folders of these files; the services must not run
Settings are those of pnpm start. A backup contains all data of a service: that of the dashboard includes its signing
key and links, with which anyone can read shared campaigns and sign in. Files are readable by their owner only.
Exit status: 0 done, 1 failed for a service, 2 wrong usage.
`

interface Plan {
  readonly folder: string
  readonly definitions: readonly AnyService[]
  readonly configs: ReadonlyMap<string, Config>
}

/**
 * Reads the arguments. Services default to those that `others` finds.
 * @returns the exit code if there is nothing to do
 */
async function parsePlan(
  { services, argv, env }: BackupOptions,
  others: (folder: string) => string[],
): Promise<Plan | number> {
  try {
    const { services: words, flags, instead } = parseArguments(argv)
    const [folder, ...named] = words
    if (instead || folder === undefined) {
      say(USAGE, instead ? 1 : 2)
      return instead ? 0 : 2
    }
    const names = named.length > 0 ? named : others(folder)
    const unknown = names.filter((name) => !Object.hasOwn(services, name))
    if (unknown.length > 0) throw new StartError('SERVICE_UNKNOWN', `no service is called ${unknown.join(' or ')}`)
    const definitions = await Promise.all(names.map((name) => services[name]!()))
    return { folder, definitions, configs: resolveConfigs(definitions, flags, env) }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    say(`${error.message}\n`)
    return 2
  }
}

const told = ({ entries, sha256, at }: BackupEnd) => `${entries} entries as of ${at}, sha256 ${sha256}`

/** Does something for each service, whatever becomes of the others. Resolves with the exit code. */
async function forEach(
  definitions: readonly AnyService[],
  work: (definition: AnyService) => Promise<string>,
): Promise<number> {
  let code = 0
  for (const definition of definitions) {
    const { name } = definition
    try {
      say(`${name}: ${await work(definition)}\n`, 1)
    } catch (error) {
      code = 1
      say(error instanceof StartError ? `${error.message}\n` : `${name}: ${reasonOf(error)}\n`)
    }
  }
  return code
}

function reasonOf(error: unknown): string {
  if (error instanceof ServiceError || error instanceof BackupDamaged) return error.message
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message} (${cause.message || (cause as { code?: string }).code})` : message
}

/** `pnpm backup DIR`: a file a service that runs. */
export async function backUp(options: BackupOptions): Promise<number> {
  const plan = await parsePlan(options, () => Object.keys(options.services))
  if (typeof plan === 'number') return plan
  const { folder, definitions, configs } = plan
  mkdirSync(folder, { recursive: true })
  const real = definitions.filter(({ standsIn }) => !standsIn)
  return forEach(real, async ({ name }) => {
    const config = configs.get(name)!
    try {
      return told(await saveBackup(urlOf(config), config.apiToken, fileOf(folder, name)))
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'NOTHING_KEPT') return 'keeps nothing'
      throw error
    }
  })
}

/** `pnpm restore DIR`: a data folder of each file, for services that do not run. */
export async function restore(options: BackupOptions): Promise<number> {
  const filesIn = (folder: string) => {
    if (!existsSync(folder)) throw new StartError('FOLDER_UNKNOWN', `there is no folder ${folder}`)
    return readdirSync(folder).flatMap((name) => (name.endsWith(ENDING) ? [name.slice(0, -ENDING.length)] : []))
  }
  const plan = await parsePlan(options, filesIn)
  if (typeof plan === 'number') return plan
  const { folder, definitions, configs } = plan
  return forEach(definitions, async ({ name, keptElsewhere }) => {
    const config = configs.get(name)!
    const elsewhere = keptElsewhere?.(config)
    if (elsewhere) throw new StartError('KEPT_ELSEWHERE', `${name}: ${elsewhere}`)
    const { data } = config
    return `${told(await restoreBackup(name, fileOf(folder, name), data))}, in ${data}`
  })
}
