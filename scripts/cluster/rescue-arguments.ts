import { getServers, getStreamName, isCluster, type logSettings } from '@influencer-stats/log/settings'
import type { NatsOptions } from '@influencer-stats/log/successor'
import { parseArguments, type SettingFlag } from '@influencer-stats/runtime/arguments'
import type { SettingValues } from '@influencer-stats/runtime/define-settings'
import { StartError } from '@influencer-stats/runtime/errors'
import { assertKnownServices, resolveConfigs } from '@influencer-stats/runtime/resolve-config'
import { services } from '../../services.ts'

const CLUSTER_SERVICES = { kv: services.kv, stats: services.stats, prices: services.prices, sse: services.sse }
const DEFAULT_WAIT_TIMEOUT_MS = 120_000

/** Arguments of `pnpm cluster rescue`. */
export interface RescueArguments {
  readonly service: string
  readonly urls: readonly string[]
  /** Folders of stopped nodes, and backup files. */
  readonly paths: readonly string[]
  readonly token: string
  readonly nats: NatsOptions
  readonly stream: string
  readonly cluster: string
  readonly replicas: number
  /** Storage of a new stream; undefined for the disks of the servers. */
  readonly storage: 'file' | 'memory' | undefined
  /** True if the stream may be deleted without a question. */
  readonly isConfirmed: boolean
  /** Maximum time until the nodes take writes (ms). */
  readonly waitTimeout: number
}

type ClusterConfig = SettingValues<typeof logSettings> & {
  readonly apiToken: string
  /** Setting of sse. */
  readonly natsStorage?: 'file' | 'memory'
}

/**
 * Parses the arguments. Flags that are not those of the command are settings of the service.
 * @returns undefined if help is requested
 * @throws StartError for wrong usage
 */
export async function parseRescueArguments(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<RescueArguments | undefined> {
  const { services: names, flags, instead } = parseArguments(argv.filter((word) => word !== '--yes'))
  if (instead || (names.length === 0 && flags.length === 0)) return undefined
  const [service, ...rest] = names
  if (service === undefined || rest.length > 0) throw new StartError('USAGE_WRONG', 'name one service')
  assertKnownServices([service], CLUSTER_SERVICES)
  const definition = await CLUSTER_SERVICES[service as keyof typeof CLUSTER_SERVICES]!()
  const isOwn = ({ name }: SettingFlag) => ['url', 'from', 'waitTimeout'].includes(name)
  const getValues = (name: string) => flags.flatMap((flag) => (flag.name === name ? [flag.value] : []))
  const settings = flags.filter((flag) => !isOwn(flag))
  const config = resolveConfigs([definition], settings, env).get(service) as unknown as ClusterConfig
  if (!isCluster(config)) throw new StartError('USAGE_WRONG', 'name the NATS servers: --cluster nats://HOST:4222')
  const urls = getValues('url').flatMap((list) => list.split(','))
  for (const url of urls)
    if (!/^https?:\/\/[^/]+/.test(url)) throw new StartError('USAGE_WRONG', `--url ${url} is not http://HOST:PORT`)
  const paths = getValues('from')
  if (urls.length + paths.length === 0)
    throw new StartError('USAGE_WRONG', 'name the nodes (--url), or a folder or a backup (--from)')
  const waitTimeout = getValues('waitTimeout').at(-1) ?? String(DEFAULT_WAIT_TIMEOUT_MS)
  if (!/^\d{1,9}$/.test(waitTimeout)) throw new StartError('USAGE_WRONG', '--wait-timeout is a number of milliseconds')
  return {
    service,
    urls: [...new Set(urls)],
    paths: [...new Set(paths)],
    token: config.apiToken,
    nats: {
      servers: getServers(config),
      credentials: config.natsCredentials,
      nkey: config.natsNkey,
      ca: config.natsCa,
      cert: config.natsCert,
      key: config.natsKey,
    },
    stream: getStreamName(config, service),
    cluster: config.clusterName,
    replicas: config.natsReplicas,
    storage: config.natsStorage,
    isConfirmed: argv.includes('--yes'),
    waitTimeout: Number(waitTimeout),
  }
}
