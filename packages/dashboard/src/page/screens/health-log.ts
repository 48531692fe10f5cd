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
import { rich, text } from '../texts/texts.ts'
import type { NodeObservation } from './health-node.ts'

const UNKNOWN_VALUE = html`<span class="quiet">${text('log.unknown')}</span>`

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
  return html`<section class="panel service log" aria-label=${text('log.title', { service })}>
    <div class="panel-head">
      <h2>${text('log.title', { service })}</h2>
      <span class=${`dot ${dot}`}>${statusText}</span>
    </div>
    ${writes.outages.map(
      (outage) => html`<${Outage} key=${outage.code} outage=${outage} isPartial=${writes.state === 'some'} />`,
    )}
    ${majority && html`<p class="stale">${majority}</p>`}
    ${
      report && report.servers.length > 0
        ? html`<${Servers} servers=${report.servers} />`
        : html`<p>${rich('log.noReport', { unknown: UNKNOWN_VALUE })}</p>`
    }
    <${Storage} report=${report} />
  </section>`
}

function toWriteStatus({ state, outages }: WriteOverview): [dot: string, words: string] {
  if (state === 'unknown') return ['', text('log.writesUnknown')]
  if (state === 'all') return ['live', text('log.writesPossible')]
  return [
    'lost',
    state === 'none' ? text('log.writesStopped') : text('log.writesPartial', { nodes: formatNodes(outages) }),
  ]
}

const toNodeNumber = (node: string) => node.split('.')[1] ?? '1'
const formatNodes = (outages: readonly WriteOutage[]) => {
  const numbers = outages.flatMap(({ nodes }) => nodes.map(toNodeNumber))
  return text('log.nodes', { count: numbers.length, numbers: numbers.sort().join(', ') })
}

/** @param isPartial true if other nodes take writes */
function Outage({ outage, isPartial }: { outage: WriteOutage; isPartial: boolean }) {
  const { cause, remedy, chapter } = describeOutage(outage.code)
  return html`<div class="outage">
    <p>
      ${isPartial && html`<b>${formatNodes([outage])}: </b>`}<b>${cause}</b> ${remedy}
      ${chapter && ` ${text('log.chapter', { chapter })}`}
      ${` ${text(outage.isEmpty ? 'log.readsRefused' : 'log.readsContinue')}`}
    </p>
    <p class="quiet">
      ${outage.since && html`${rich('log.since', { time: html`<${Clock} at=${outage.since} />` })}${' '}`}<code>${outage.code}</code>${
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
          <th scope="col">${text('log.server')}</th>
          <th scope="col">${text('log.role')}</th>
          <th scope="col">${text('log.state')}</th>
          <th scope="col" class="number">${text('log.lag')}</th>
          <th scope="col" class="number">${text('log.contact')}</th>
        </tr>
      </thead>
      <tbody>
        ${servers.map(
          ({ name, role, state, lag, lastContactAt }) =>
            html`<tr key=${name}>
              <th scope="row" class="name">${name}</th>
              <td data-title=${text('log.role')}>${role === 'unknown' ? UNKNOWN_VALUE : text(`log.${role}`)}</td>
              <td data-title=${text('log.state')}>
                <span class=${`dot ${STATE_DOTS[state]}`}>${text(`log.${state}`)}</span>
              </td>
              <td data-title=${text('log.lag')} class="number">
                ${lag === undefined ? UNKNOWN_VALUE : formats.count(lag)}
              </td>
              <td data-title=${text('log.contact')} class="number">
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
    <dt>${text('log.stream')}</dt>
    <dd>${stream ?? UNKNOWN_VALUE}</dd>
    <dt>${text('log.diskUsed')}</dt>
    <dd>
      ${bytes === undefined ? UNKNOWN_VALUE : text(isRecent(report!) ? 'log.onEachServer' : 'log.onEachServerThen', { bytes: formats.bytes(bytes) })}
    </dd>
    <dt>${text('log.limit')}</dt>
    <dd>${limit ? describeLimit(limit) : UNKNOWN_VALUE}</dd>
    <dt>${text('log.lastReport')}</dt>
    <dd>${observedAt === undefined ? UNKNOWN_VALUE : html`<${Clock} at=${observedAt} />`}</dd>
  </dl>`
}

function describeLimit({ scope, usedBytes = 0, maxBytes = 0 }: NonNullable<LogServers['limit']>): string {
  if (scope === 'none') return text('log.noLimit')
  const values = { used: formats.bytes(usedBytes), max: formats.bytes(maxBytes) }
  const isStream = scope === 'stream'
  if (maxBytes === 0) return text(isStream ? 'log.limitOfStream' : 'log.limitOfAccount', values)
  const share = formats.percent(usedBytes / maxBytes)
  return text(isStream ? 'log.limitShareOfStream' : 'log.limitShareOfAccount', { ...values, share })
}
