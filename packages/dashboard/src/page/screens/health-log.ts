import {
  describeMajority,
  describeOutage,
  findNewestReport,
  isRecent,
  summarizeWrites,
  type LogServer,
  type LogServers,
  type NodeLog,
  type WriteOutage,
  type WriteOverview,
} from '../core/log-overview.ts'
import { html } from '../html.ts'
import { Clock } from '../parts/cards.ts'
import { formats } from '../page-state.ts'
import type { NodeObservation } from './health-node.ts'

const UNKNOWN_VALUE = html`<span class="quiet">unknown</span>`

/** The logs of all services that are nodes of a cluster. @param states by the name of the node: `kv`, or `kv.1` */
export function Logs({ states }: { states: Readonly<Record<string, NodeObservation>> }) {
  const nodes = Object.values(states).flatMap(({ log }) => log ?? [])
  const services = [...Map.groupBy(nodes, ({ node }) => node.split('.')[0]!)]
  if (services.length === 0) return null
  return html`<div class="services logs">
    ${services.map(([service, some]) => html`<${ServiceLog} key=${service} service=${service} nodes=${some} />`)}
  </div>`
}

/** The log of one service: if it takes writes, and its NATS servers. */
function ServiceLog({ service, nodes }: { service: string; nodes: readonly NodeLog[] }) {
  const writes = summarizeWrites(nodes)
  const report = findNewestReport(nodes)
  const [dot, statusText] = toWriteStatus(writes)
  const majority = report && describeMajority(report.servers)
  return html`<section class="panel service log" aria-label=${`Log of ${service}`}>
    <div class="panel-head">
      <h2>Log of ${service}</h2>
      <span class=${`dot ${dot}`}>${statusText}</span>
    </div>
    ${writes.outages.map(
      (outage) => html`<${Outage} key=${outage.code} outage=${outage} isPartial=${writes.state === 'some'} />`,
    )}
    ${majority && html`<p class="stale">${majority}</p>`}
    ${
      report && report.servers.length > 0
        ? html`<${Servers} servers=${report.servers} />`
        : html`<p>NATS servers: ${UNKNOWN_VALUE}. No node has had a report about them since its start.</p>`
    }
    <${Storage} report=${report} />
  </section>`
}

function toWriteStatus({ state, outages }: WriteOverview): [dot: string, words: string] {
  if (state === 'unknown') return ['', 'writes: unknown']
  if (state === 'all') return ['live', 'writes possible']
  return ['lost', state === 'none' ? 'writes not possible' : `writes not possible on ${formatNodes(outages)}`]
}

const toNodeNumber = (node: string) => node.split('.')[1] ?? '1'
const formatNodes = (outages: readonly WriteOutage[]) => {
  const numbers = outages.flatMap(({ nodes }) => nodes.map(toNodeNumber))
  return `${numbers.length === 1 ? 'node' : 'nodes'} ${numbers.sort().join(', ')}`
}

/** @param isPartial true if other nodes take writes */
function Outage({ outage, isPartial }: { outage: WriteOutage; isPartial: boolean }) {
  const { cause, remedy, chapter } = describeOutage(outage.code)
  return html`<div class="outage">
    <p>
      ${isPartial && html`<b>${formatNodes([outage])}: </b>`}<b>${cause}</b> ${remedy}
      ${chapter && html` The steps are in docs/deploy.md, section “${chapter}”.`}
      ${outage.isEmpty ? ' It has no data yet, so it also refuses reads.' : ' Reads continue.'}
    </p>
    <p class="quiet">
      ${outage.since && html`Since <${Clock} at=${outage.since} />. `}<code>${outage.code}</code>${
        outage.detail && `: ${outage.detail}`
      }
    </p>
  </div>`
}

const STATE_DOTS = { current: 'live', behind: 'late', offline: 'lost', unknown: '' } as const

function Servers({ servers }: { servers: readonly LogServer[] }) {
  return html`<div class="candidates servers">
    <table>
      <thead>
        <tr>
          <th scope="col">NATS server</th>
          <th scope="col">Role</th>
          <th scope="col">State</th>
          <th scope="col" class="number">Messages behind</th>
          <th scope="col" class="number">Last contact</th>
        </tr>
      </thead>
      <tbody>
        ${servers.map(
          ({ name, role, state, lag, lastContactAt }) =>
            html`<tr key=${name}>
              <th scope="row" class="name">${name}</th>
              <td data-title="Role">${role === 'unknown' ? UNKNOWN_VALUE : role}</td>
              <td data-title="State"><span class=${`dot ${STATE_DOTS[state]}`}>${state}</span></td>
              <td data-title="Messages behind" class="number">
                ${lag === undefined ? UNKNOWN_VALUE : formats.count(lag)}
              </td>
              <td data-title="Last contact" class="number">
                ${lastContactAt === undefined ? UNKNOWN_VALUE : html`<${Clock} at=${lastContactAt} />`}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** The size of the log and its limit. */
function Storage({ report }: { report: LogServers | undefined }) {
  const { stream, bytes, limit, observedAt } = report ?? {}
  return html`<dl class="storage">
    <dt>Stream</dt>
    <dd>${stream ?? UNKNOWN_VALUE}</dd>
    <dt>Disk used</dt>
    <dd>
      ${bytes === undefined ? UNKNOWN_VALUE : `${formats.bytes(bytes)} on each server${isRecent(report!) ? '' : ' at the last report'}`}
    </dd>
    <dt>Limit</dt>
    <dd>${limit ? describeLimit(limit) : UNKNOWN_VALUE}</dd>
    <dt>Last report</dt>
    <dd>${observedAt === undefined ? UNKNOWN_VALUE : html`<${Clock} at=${observedAt} />`}</dd>
  </dl>`
}

function describeLimit({ scope, usedBytes = 0, maxBytes = 0 }: NonNullable<LogServers['limit']>): string {
  if (scope === 'none') return 'none set; the free space on the disks is unknown'
  const share = maxBytes > 0 ? ` (${formats.percent(usedBytes / maxBytes)})` : ''
  return `${formats.bytes(usedBytes)} of ${formats.bytes(maxBytes)}${share} of the ${scope}`
}
