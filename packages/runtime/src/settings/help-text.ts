import { getSettings, toVariable } from './resolve-config.ts'
import { SETTING_GROUPS, toFlag, addFileSettings, type Setting, type SettingTable } from './define-settings.ts'
import { commonSettings, type ConfigurableService } from './settings.ts'
import { formatTable } from '../text-table.ts'

const HEADERS = ['  setting', 'default', 'environment', 'description']
const sharedSettings = addFileSettings(commonSettings)

const toText = (value: unknown) => (value === '' || (Array.isArray(value) && value.length === 0) ? '-' : String(value))

const toChoices = ({ enum: values, choices: names = values }: Setting): string =>
  names ? ` (${names.join(', ')})` : ''

/** Formats settings as lines, one section for each group. Settings without a group are in the section `ownGroup`. */
function formatSettings(settings: SettingTable, toVariable: (name: string) => string, ownGroup: string): string[] {
  const groups = Object.groupBy(Object.entries(settings), ([, { group }]) => group ?? ownGroup)
  const sections = Object.keys(groups).toSorted((a, b) => toRank(a) - toRank(b))
  return sections.flatMap((group) => {
    const rows = groups[group]!.map(([name, schema]) => [
      `  ${toFlag(name)}`,
      toText(schema.default ?? ''),
      [schema.env, toVariable(name)].filter(Boolean).join(', '),
      `${schema.description}${toChoices(schema)}`,
    ])
    return ['', `${group}:`, ...formatTable([HEADERS, ...rows])]
  })
}

/** Returns the position of a section: -1 for the service's own section, which is first. */
const toRank = (group: string) => SETTING_GROUPS.findIndex((name) => name === group)

/** Text of `pnpm start --help`: the settings of all services, then those of each given service. */
export function formatHelp(definitions: readonly ConfigurableService[]): string {
  const own = definitions.flatMap((definition) => {
    const { name, summary, port, variants } = definition
    const isOwn = (key: string) => Object.hasOwn(definition.settings ?? {}, key) || !Object.hasOwn(sharedSettings, key)
    const settings = Object.fromEntries(Object.entries(getSettings(definition)).filter(([key]) => isOwn(key)))
    return [
      '',
      `# ${name}: ${summary} (port ${port}, data in ./data/${name})`,
      ...(variants ? [`  variants: ${Object.keys(variants).join(', ')}`] : []),
      ...formatSettings(settings, (key) => toVariable(name, key), name),
    ]
  })
  return [
    'pnpm start [service...] [--setting value...] [--service.setting value...]',
    '',
    `Starts the named services, by default all: ${definitions.map(({ name }) => name).join(', ')}.`,
    'Order of precedence: flag, environment variable, variant, default. A flag without a service name applies to',
    'every started service that has the setting. `pnpm start stats --help` shows one service.',
    '',
    '# all services',
    ...formatSettings(sharedSettings, (key) => `<SERVICE>${toVariable('', key)}`, 'general'),
    ...own,
    '',
  ].join('\n')
}
