import type { campaigns as english } from '../en/campaigns.ts'
import type { Translation } from '../text-types.ts'

export const campaigns: Translation<typeof english> = {
  'list.campaign': 'Kampagne',
  'list.rate': 'Rate',
  'list.asOf': 'Stand',
  'list.old': 'Alt: {time}',
  'list.noNumbers': 'noch keine Zahlen',
  'list.compareOne': '{name} vergleichen',
  'list.compareCount': '{count} vergleichen',
  'list.new': 'Neue Kampagne',
  'list.search': 'Kampagnen suchen',
  'list.searchShort': 'Suchen',
  'list.tag': 'Tag {tag}',
  'list.showAll': 'Alle anzeigen',
  'list.noMatch': 'Keine Kampagne passt.',
  'list.none': 'Noch keine Kampagnen.',
  'list.first': 'Die erste Kampagne',
  'list.firstNote':
    'YouTube-Links einfügen, einen oder hundert. Ihre Zahlen werden summiert, gespeichert und live aktualisiert.',
  'list.in24h': 'in 24 Std.',
  'list.unknownIn24h': 'Zuwachs in 24 Std. unbekannt',
  'list.younger': '({count} jünger)',
  'list.omitted': 'ohne {count} mit unbekanntem Zuwachs',

  'new.links': 'YouTube-Links',
  'new.name': 'Name',
  'new.nameLater': '(auch später möglich)',
  'new.start': 'Kampagne starten',

  'compare.byDate': 'Nach Datum',
  'compare.fromStart': 'Ab Start',
  'compare.alignment': 'Ausrichtung',
  'compare.note': 'Aufrufe und ihr Zuwachs {within}',
  'compare.gone': {
    one: 'Eine dieser Kampagnen gibt es nicht mehr.',
    other: '{count} dieser Kampagnen gibt es nicht mehr.',
  },
  'compare.hours': '{hours} Std.',
  'compare.days': '{days} T.',
  'compare.daysHours': '{days} T. {hours} Std.',
  'compare.remove': '{name} aus dem Vergleich entfernen',
  'compare.add': 'Kampagne hinzufügen',
  'compare.addOption': 'Kampagne hinzufügen…',
  'compare.choose': 'Zwei bis sechs Kampagnen auswählen, hier oder in der Liste der Kampagnen.',
  'compare.summary': 'Aufrufe von {names} {within}. Pfeiltasten lesen Werte.',
  'compare.summaryFromStart': 'Aufrufe von {names} nach der Zeit seit ihrem Beginn. Pfeiltasten lesen Werte.',
  'compare.startNote': 'Jede Linie beginnt am ersten Tag ihrer Kampagne, ohne Laufzeit bei ihrer Erstellung.',
  'compare.upcoming': '{name} hat noch nicht begonnen.',
  'compare.unknown': '{name}: Aus dieser Zeit sind keine Zahlen bekannt.',
  'compare.firstNumbers':
    '{name}: Die ersten Zahlen sind von {time} nach dem Beginn. Das Wachstum davor ist unbekannt.',
}
