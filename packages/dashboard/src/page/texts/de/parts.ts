import type { parts as english } from '../en/parts.ts'
import type { Translation } from '../text-types.ts'

export const parts: Translation<typeof english> = {
  'dialog.close': 'Schließen',
  'dialog.unsaved': 'Nicht gespeicherte Änderungen',
  'dialog.question': 'Änderungen verwerfen?',
  'dialog.continue': 'Weiter bearbeiten',
  'dialog.discard': 'Verwerfen',

  'range.label': 'Zeitraum',
  'range.24h': '24 Stunden',
  'range.7d': '7 Tage',
  'range.30d': '30 Tage',
  'within.24h': 'in 24 Stunden',
  'within.7d': 'in 7 Tagen',
  'within.30d': 'in 30 Tagen',

  'growth.since': 'seit {time}',
  'growth.sinceYoung': 'seit {time} (jünger als {range})',

  'measure.label': 'Messgröße',
  'measure.views': 'Aufrufe',
  'measure.engagements': 'Interaktionen',
  'measure.viewsPerHour': 'Aufrufe pro Stunde',
  'measure.engagementsPerHour': 'Interaktionen pro Stunde',
  'measure.rate': 'Interaktionsrate',
  'measure.ofAllViews': 'aller Aufrufe',

  'mode.label': 'Zählweise',
  'mode.growth': 'Zuwachs',
  'mode.total': 'Gesamt',
  'mode.hourly': 'Pro Stunde',

  'chart.growth': 'Zuwachs',
  'chart.summary': '{name} {within}',
  'chart.summaryValues': '{name} {within}, von {first} auf {last}. Pfeiltasten lesen Werte.',
  'chart.soon': 'Die Kurve erscheint nach der ersten Änderung der Zahlen.',
  'chart.soonOnePoint': 'Die Kurve erscheint nach der ersten Änderung der Zahlen. Bisher gibt es einen Punkt.',
  'chart.soonNoPoints': 'Die Kurve erscheint nach der ersten Änderung der Zahlen. Bisher gibt es keinen Punkt.',
  'chart.edits': 'Bearbeitungen',
  'chart.unknown': 'unbekannt',

  'count.views': 'Aufrufe',
  'count.likes': 'Likes',
  'count.comments': 'Kommentare',
  'count.dislikes': 'Dislikes',
  'count.value': '{value} {name}',
  'count.hidden': '{names} verborgen',
  'count.hiddenLast': '{names} verborgen (zuletzt bekannt: {last})',
  'hidden.views': { one: 'Aufrufe von {count} Video verborgen', other: 'Aufrufe von {count} Videos verborgen' },
  'hidden.likes': { one: 'Likes von {count} Video verborgen', other: 'Likes von {count} Videos verborgen' },
  'hidden.comments': {
    one: 'Kommentare von {count} Video verborgen',
    other: 'Kommentare von {count} Videos verborgen',
  },
  'hidden.dislikes': { one: 'Dislikes von {count} Video verborgen', other: 'Dislikes von {count} Videos verborgen' },
  'videos.count': { one: '{count} Video', other: '{count} Videos' },
  'videos.unread': { one: '{count} Video noch nicht abgerufen', other: '{count} Videos noch nicht abgerufen' },
  'gaps.missing': '{count} nicht gefunden',
  'gaps.unread': '{count} noch nicht abgerufen',
  'gaps.removed': '{count} entfernt, mit letzten Zahlen',

  'edits.videosAdded': { one: '{count} Video hinzugefügt: {value}', other: '{count} Videos hinzugefügt: {value}' },
  'edits.videosRemoved': { one: '{count} Video entfernt: {value}', other: '{count} Videos entfernt: {value}' },
  'edits.countsAdded': 'Zählwerte hinzugekommen: {value}',
  'edits.countsRemoved': 'Zählwerte weggefallen: {value}',
}
