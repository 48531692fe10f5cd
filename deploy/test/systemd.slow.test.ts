import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listDocumentedCommands, parseCommands, ROOT } from './support/commands.ts'
import { bootMachine, findObstacle } from './support/machine.ts'

const obstacle = findObstacle()

/** The commands of a section of docs/deploy.md. */
function readSection(title: string): string[] {
  const document = readFileSync(`${ROOT}/docs/deploy.md`, 'utf8')
  const section = document.split(/^## /m).find((text) => text.startsWith(`${title}\n`))!
  return Array.from(section.matchAll(/^```sh\n(.*?)^```/gms), ([, block]) => parseCommands(block!)).flat()
}

/**
 * Replaces what the machine cannot reach: npx (runs the script of package.json), and the API of YouTube (the stand-in
 * is a unit like the others).
 */
const NPX_SCRIPT = 'npx() { local name=$3; shift 3; node_modules/.bin/node scripts/$name.ts "$@"; }\n'
const withStandIn = (text: string) => text.replace('https://www.googleapis.com', 'http://localhost:8081')
const TOKEN = '-H "authorization: Bearer $(cat /etc/influencer-stats/api-token)"'
const SITE = 'https://stats.example.com'
const CURL = `curl -sS --fail-with-body --retry 60 --retry-delay 1 --retry-all-errors --max-time 60 --resolve stats.example.com:443:127.0.0.1 \
  --cacert /var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt`

let machine: Awaited<ReturnType<typeof bootMachine>>
const run = (commands: string) => machine.run(NPX_SCRIPT + commands)

beforeAll(async () => {
  if (!obstacle) machine = await bootMachine()
})
afterAll(async () => machine?.stop())

test.skipIf(obstacle)(
  `the steps of docs/deploy.md on a machine (${obstacle ?? 'systemd in a container'})`,
  async () => {
    const steps = readSection('systemd').map(withStandIn)
    const backup = steps.findIndex((text) => text.includes('npx'))
    expect(backup).toBeGreaterThan(8)
    // The first statistic over TLS by Caddy, which has its own CA here.
    await run(`export YOUTUBE_API_KEY=stand-in\n${steps.slice(0, backup).join('\n')}`)
    await run('systemctl enable --now influencer-stats@youtube influencer-stats@dashboard')
    for (const step of readSection('Reverse proxy')) {
      await run(step)
      if (step.startsWith('cp '))
        await run(`sed -i '1i { \\nlocal_certs \\nskip_install_trust \\n}' /etc/caddy/Caddyfile`)
    }
    await run(
      `${CURL} ${TOKEN} -XPUT ${SITE}/collections/spring -H 'content-type: application/json' -d '{"videos":["-4lB5EKS5Uk"]}'`,
    )
    const first = await run(`${CURL} ${SITE}/collections/spring/stats`)
    expect(JSON.parse(first)).toMatchObject({ impressions: expect.any(Number) })
    // Nobody without the token may write.
    expect(await run(`curl -s -o /dev/null -w '%{http_code}' -XDELETE localhost:8080/collections/spring`)).toBe('401')

    await run(steps.slice(backup).join('\n'))
    const restored = await run(`${CURL} ${SITE}/collections/spring/stats`)
    expect(JSON.parse(restored)).toMatchObject({ impressions: expect.any(Number) })

    // An alert, with shorter intervals.
    for (const step of readSection('Monitoring')) {
      await run(step)
      if (step.startsWith('cp ')) await run(`sed -i 's/: 15s/: 1s/; s/for: 1m/for: 1s/' /etc/prometheus/*.yml`)
    }
    const alerts = () => run(`curl -s localhost:9090/api/v1/alerts`)
    const hasAlert = async (job: string) => {
      const { data } = JSON.parse(await alerts()) as { data: { alerts: { labels: Record<string, string> }[] } }
      return data.alerts.some(({ labels }) => labels.alertname === 'ServiceDown' && labels.job === job)
    }
    await waitUntil(() => hasAlert('kv').catch(() => false))
    expect(await hasAlert('stats')).toBe(false)
    await run('systemctl stop influencer-stats@stats')
    await waitUntil(() => hasAlert('stats'))
  },
)

test.skipIf(obstacle)('a unit waits for its servers as long as they are away, and returns after a kill', async () => {
  const unit = 'influencer-stats@kv'
  await run(`mkdir -p /etc/influencer-stats /etc/systemd/system/${unit}.service.d
    cp deploy/systemd/influencer-stats@.service /etc/systemd/system/
    printf '[Service]\\nRestartSec=10ms\\n' > /etc/systemd/system/${unit}.service.d/fast.conf
    echo KV_PORT=wrong > /etc/influencer-stats/kv.env
    systemctl daemon-reload; systemctl start ${unit}`)
  const restarts = async () => Number(/\d+/.exec(await run(`systemctl show -P NRestarts ${unit}`))![0])
  await waitUntil(async () => (await restarts()) > 6)
  expect(await run(`systemctl show -P ActiveState ${unit}`)).not.toMatch(/failed/)
  await run('rm /etc/influencer-stats/kv.env')
  const curl = 'curl -sf --retry 100 --retry-delay 1 --retry-all-errors --max-time 90'
  await run(`${curl} localhost:8082/readyz`)
  await run(`systemctl kill --signal SIGKILL ${unit}; sleep 0.1; ${curl} localhost:8082/readyz`)
  await run(`systemctl stop ${unit}`)
  expect(await run(`systemctl show -P Result ${unit}`)).toMatch(/^success/)
})

test.skipIf(obstacle)(
  'no request is lost while a unit with a socket unit is reloaded and restarted under load',
  async () => {
    const unit = 'influencer-stats@kv'
    await run(`cp deploy/systemd/*.service deploy/systemd/*.socket /etc/systemd/system/; systemctl daemon-reload
    systemctl stop ${unit}; systemctl enable --now ${unit}.socket`)
    // The first connection starts the service.
    await run('curl -sf --max-time 90 -o /dev/null localhost:8082/readyz')
    // A test before this one may have made the token.
    const load = run(
      'echo $$ > /run/load; exec node_modules/.bin/node deploy/test/support/kv-requests.ts 8082 /etc/influencer-stats/api-token',
    )
    const processOf = () =>
      run(`systemctl show -P MainPID ${unit}; pgrep --parent $(systemctl show -P MainPID ${unit}) || true`)
    const processes = new Set([await processOf()])
    for (const command of ['reload', 'restart', 'reload', 'restart']) {
      await run(`sleep 1; systemctl ${command} ${unit}`)
      await waitUntil(() => processOf().then((id) => !processes.has(id) && /\n\d+\n$/.test(id) && processes.add(id)))
    }
    await run('sleep 1; kill $(cat /run/load)')
    const result = JSON.parse(await load) as { sent: number; failures: string[]; slowest: number }
    expect(result.sent).toBeGreaterThan(100)
    expect(result.failures).toEqual([])
    await run(`systemctl disable --now ${unit}.socket ${unit}`)
    expect(await run(`systemctl show -P Result ${unit}`)).toMatch(/^success/)
  },
)

test('each command of the sections that this test runs is in the document once', () => {
  const all = listDocumentedCommands().map(({ text }) => text)
  const own = ['systemd', 'Reverse proxy', 'Monitoring'].flatMap(readSection)
  expect(own.length).toBeGreaterThan(15)
  for (const text of own) expect(all.filter((one) => one === text)).toHaveLength(1)
})
