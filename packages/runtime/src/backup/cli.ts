import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../http/errors.ts'
import { ServiceError } from '../http/service-error.ts'
import { urlOf } from '../process/url-of.ts'
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

/** The folder, and what is known of the services that are named, or of all those of `others`. */
async function planOf({ services, argv, env }: BackupOptions, others: (folder: string) => string[]) {
  const { services: words, flags, instead } = parseArguments(argv)
  const [folder, ...named] = words
  if (instead || folder === undefined)
    throw new StartError(
      'FOLDER_NEEDED',
      'pnpm backup DIR [service...], pnpm restore DIR [service...]; settings as for start',
    )
  const names = named.length > 0 ? named : others(folder)
  const unknown = names.filter((name) => !Object.hasOwn(services, name))
  if (unknown.length > 0) throw new StartError('SERVICE_UNKNOWN', `no service is called ${unknown.join(' or ')}`)
  const definitions = await Promise.all(names.map((name) => services[name]!()))
  return { folder, definitions, configs: resolveConfigs(definitions, flags, env) }
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
  const { folder, definitions, configs } = await planOf(options, () => Object.keys(options.services))
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
  const filesIn = (folder: string) =>
    readdirSync(folder).flatMap((name) => (name.endsWith(ENDING) ? [name.slice(0, -ENDING.length)] : []))
  const { folder, definitions, configs } = await planOf(options, filesIn)
  return forEach(definitions, async ({ name, keptElsewhere }) => {
    const config = configs.get(name)!
    const elsewhere = keptElsewhere?.(config)
    if (elsewhere) throw new StartError('KEPT_ELSEWHERE', `${name}: ${elsewhere}`)
    const { data } = config
    return `${told(await restoreBackup(name, fileOf(folder, name), data))}, in ${data}`
  })
}
