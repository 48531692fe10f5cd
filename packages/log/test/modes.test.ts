import { parseArguments } from '@influencer-stats/runtime/arguments'
import { resolveConfigs } from '@influencer-stats/runtime/resolve-config'
import type { SettingValues } from '@influencer-stats/runtime/define-settings'
import { expect, it } from 'vitest'
import { getServers, getStreamName, isCluster, logSettings } from '../src/settings.ts'

const service = { name: 'kv', summary: '', port: 1, settings: logSettings }
const SERVERS = ['nats://a', 'nats://b:4223', 'nats://user:secret@c']
const LIST = SERVERS.join(',')

it.each<[argv: string[], env: Record<string, string>]>([
  [['--cluster', LIST], {}],
  [['--cluster', LIST], { NATS_URL: 'nats://other' }],
  [[], { NATS_CLUSTER: LIST }],
  [[], { KV_CLUSTER: LIST }],
  // The deprecated settings.
  [['--log', 'jetstream', '--nats-url', LIST], {}],
  [['--log', 'jetstream'], { NATS_URL: LIST }],
])('%j with the environment %j make a node of a cluster', (argv, env) => {
  const config = resolve(argv, env)
  expect(isCluster(config)).toBe(true)
  expect(getServers(config)).toEqual(SERVERS)
})

it.each<[argv: string[], env: Record<string, string>]>([
  [[], {}],
  [[], { NATS_URL: LIST }],
  [['--nats-url', LIST], {}],
  [['--log', 'local'], { NATS_URL: LIST }],
])('%j with the environment %j make a standalone service', (argv, env) => {
  expect(isCluster(resolve(argv, env))).toBe(false)
})

const resolve = (argv: string[], env: Record<string, string>) =>
  resolveConfigs([service], parseArguments(argv).flags, env).get('kv') as unknown as SettingValues<typeof logSettings>

it.each([
  [{ clusterName: '', natsStream: '' }, 'kv'],
  [{ clusterName: 'staging', natsStream: '' }, 'staging-kv'],
  [{ clusterName: 'staging', natsStream: 'own' }, 'own'],
])('%j names the stream of kv %s', (config, name) => {
  expect(getStreamName(config, 'kv')).toBe(name)
})
