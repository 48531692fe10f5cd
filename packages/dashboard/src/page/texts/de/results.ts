import type { results as english } from '../en/results.ts'
import type { Translation } from '../text-types.ts'

export const results: Translation<typeof english> = {
  'results.dates': 'Kampagnenzeit',
  'results.days': 'Andere Tage',
  'results.firstDay': 'Erster Tag',
  'results.lastDay': 'Letzter Tag',
  'results.total': 'insgesamt {value}, Stand jetzt',
  'results.ofViews': 'der Aufrufe in dieser Zeit',
  'results.ofCostReported': 'von {amount}, über alle bisherigen Live- und gemeldeten Zahlen',
  'results.ofCostInTime': 'von {amount}, über den Zuwachs in dieser Zeit',
  'results.ofCostInTimeReported': 'von {amount}, über den Zuwachs in dieser Zeit und die gemeldeten Zahlen',
  'results.ofCost': 'von {amount}, über alle bisherigen Aufrufe',
  'results.compare': 'Vergleichen mit',
  'results.compareNone': 'Vergleichen mit …',
  'results.before': 'Zeitraum davor',
  'results.summary': 'Zuwachs: {names}. Pfeiltasten lesen Werte.',
  'results.upcoming': 'Dieser Zeitraum hat noch nicht begonnen.',
  'results.unknown': 'Aus diesem Zeitraum sind keine Zahlen bekannt.',
  'results.first': 'Die ersten Zahlen sind vom {time}: Der Zuwachs davor ist unbekannt.',
  'results.last': 'Die letzten Zahlen sind vom {time}: Der Zuwachs danach ist unbekannt.',
  'results.interpolatedStart': 'Der Anfang ist geschätzt, zwischen zwei Zahlen im Abstand von {time}.',
  'results.interpolatedEnd': 'Das Ende ist geschätzt, zwischen zwei Zahlen im Abstand von {time}.',
  'results.compared': 'Nach {time}: {now}, verglichen mit {before} ({name})',
  'results.comparedShare': 'Nach {time}: {now}, verglichen mit {before} ({name}): {share}',
  'results.comparedUnknown': '{name}: Es sind keine Zahlen bekannt.',
}
