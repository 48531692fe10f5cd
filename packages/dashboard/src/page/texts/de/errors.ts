import type { errors as english } from '../en/errors.ts'
import type { Translation } from '../text-types.ts'

export const errors: Translation<typeof english> = {
  'error.BAD_JSON': 'Diese Seite hat eine unlesbare Anfrage gesendet. Seite neu laden und noch einmal versuchen.',
  'error.BAD_REQUEST': 'Diese Seite hat eine unlesbare Anfrage gesendet. Seite neu laden und noch einmal versuchen.',
  'error.BODY_TOO_LARGE': 'Das ist zu viel auf einmal. Weniger senden, zum Beispiel 500 Links pro Mal.',
  'error.INTERNAL_TIMEOUT':
    'Der Dienst war zu beschäftigt für eine Antwort; die Änderung kann noch kommen. Seite neu laden und nachsehen.',
  'error.CAMPAIGN_FILE_INVALID':
    'Das ist keine Tabelle mit Kampagnen. Nötig ist eine CSV- oder XLSX-Datei mit Spalten wie Kampagne und Link.',
  'error.CHARACTERISTIC_NOT_FOUND': 'Kein Preis hat dieses Merkmal. Bitte eine andere Bedingung wählen.',
  'error.COLLECTION_FULL': 'Eine Kampagne hat höchstens 1.000 Videos. Erst einige entfernen, dann neue hinzufügen.',
  'error.COLLECTION_NOT_FOUND': 'Diese Kampagne gibt es nicht. Vielleicht wurde sie gelöscht.',
  'error.CONDITION_FAILED':
    'Jemand anderes hat diese Kampagne inzwischen geändert. Neuen Stand prüfen und noch einmal versuchen.',
  'error.TOO_MANY_TAGS': 'Eine Kampagne kann 50 Tags haben. Zuerst eines entfernen.',
  'error.COST_AMBIGUOUS':
    'Eine Kampagne hat entweder Gesamtkosten oder Honorare, und höchstens ein Honorar pro Creator.',
  'error.CROSS_SITE': 'Diese Änderung kam nicht von dieser Seite. Seite neu laden und noch einmal versuchen.',
  'error.INVALID_CURSOR': 'Die Liste hat sich inzwischen geändert. Bitte die Seite neu laden.',
  'error.DATA_DAMAGED': 'Diese Daten sind auf der Festplatte beschädigt. Der Betrieb muss ein Backup einspielen.',
  'error.INVALID_DATE_RANGE': 'Der letzte Tag liegt vor dem ersten. Bitte einen späteren letzten Tag wählen.',
  'error.WRITES_STOPPED':
    'Der Betrieb hat alle Änderungen angehalten, etwa für einen Umzug der Daten. Später noch einmal versuchen.',
  'error.DISK_FULL':
    'Die Festplatte des Dienstes ist voll. Änderungen sind erst möglich, wenn der Betrieb Platz schafft.',
  'error.GROUP_NOT_FOUND': 'Kein Preis hat diese Gruppe. Bitte eine andere wählen.',
  'error.INTERNAL':
    'Im Dienst ist ein Fehler aufgetreten. Noch einmal versuchen; hilft das nicht, sollte der Betrieb das Log lesen.',
  'error.TOO_MANY_LINKS': 'Es gibt schon 10.000 gültige Links. Bitte nicht mehr benötigte widerrufen.',
  'error.LINK_EXPIRED': 'Dieser Link ist nicht mehr gültig. Einen neuen gibt es bei der Stelle, von der er kam.',
  'error.LINK_UNKNOWN': 'Diesen Link gibt es nicht. Wurde er vollständig kopiert?',
  'error.SEQUENCE_WAIT_TIMEOUT': 'Dieser Knoten des Dienstes hat zurzeit ältere Daten. Gleich noch einmal versuchen.',
  'error.LOG_UNAVAILABLE':
    'Änderungen sind zurzeit nicht möglich. Nichts wurde geändert; gleich noch einmal versuchen.',
  'error.MEMORY_FULL': 'Der Dienst ist ausgelastet. Gleich noch einmal versuchen.',
  'error.MISDIRECTED_HOST':
    'Unter dieser Adresse gibt es kein Dashboard. Bitte die Adresse öffnen, die der Betrieb festgelegt hat.',
  'error.NOT_FOUND': 'Unter dieser Adresse gibt es nichts. Wurde sie vollständig kopiert?',
  'error.NOT_IN_TRASH':
    'Diese Kampagne liegt nicht im Papierkorb. Vielleicht wurde sie wiederhergestellt oder endgültig gelöscht.',
  'error.NOT_READY': 'Der Dienst startet gerade. Gleich noch einmal versuchen.',
  'error.OFFERING_NOT_FOUND': 'Kein Preis hat dieses Angebot. Bitte ein anderes wählen.',
  'error.ORIGIN_UNKNOWN': 'Diese Änderung kam nicht von dieser Seite. Seite neu laden und noch einmal versuchen.',
  'error.OUTCOME_UNKNOWN': 'Vielleicht wurde die Änderung gespeichert. Seite neu laden und nachsehen.',
  'error.OVERLOADED': 'Der Dienst ist ausgelastet. Gleich noch einmal versuchen.',
  'error.PRICES_AMBIGUOUS': 'Mehrere Preise passen. Weitere Werte wählen, bis ein Preis bleibt.',
  'error.PRICE_NOT_FOUND': 'Kein Preis passt. Bitte andere Bedingungen wählen.',
  'error.RATE_LIMITED': 'Zu viele Anfragen aus diesem Netz. Kurz warten und noch einmal versuchen.',
  'error.ROUTE_REFUSED': 'Diese Seite darf das vom Dienst nicht verlangen. Seite neu laden und noch einmal versuchen.',
  'error.SERVICE_SLOW': 'Der Dienst braucht zu lange für eine Antwort. Noch einmal versuchen.',
  'error.SERVICE_UNKNOWN': 'Dieser Dienst läuft hier nicht. Der Betrieb muss ihn starten.',
  'error.SERVICE_UNREACHABLE': 'Der Dienst antwortet nicht. Gleich noch einmal versuchen.',
  'error.SIGN_IN_NEEDED': 'Bitte neu anmelden. Änderungen brauchen das Token für Änderungen.',
  'error.SPEC_NOT_FOUND': 'Kein Preis hat diese Spezifikation. Bitte eine andere wählen.',
  'error.STATE_UNAVAILABLE': 'Der Speicher der Kampagnen ist nicht verfügbar. Gleich noch einmal versuchen.',
  'error.STATS_NOT_READY': 'Die Zahlen wurden noch nicht abgerufen. Gleich noch einmal versuchen.',
  'error.STORE_FAILED': 'Die Festplatte des Dienstes nimmt keine Änderungen an. Der Betrieb sollte das Log lesen.',
  'error.TOKEN_WRONG': 'Dieses Token ist hier nicht gültig. Bitte prüfen und noch einmal versuchen.',
  'error.TOO_MANY_STREAMS': 'Zu viele Seiten sind gleichzeitig offen. Bitte einige schließen.',
  'error.UNAUTHORIZED': 'Der Dienst verlangt ein anderes Token. Mit dem Token für Änderungen neu anmelden.',
  'error.URI_TOO_LONG': 'Diese Adresse ist zu lang. Bitte die Suche kürzen.',
  'error.UNEXPECTED_REDIRECT':
    'Der Dienst hat eine andere Adresse. Der Betrieb muss die endgültige Adresse einstellen.',
  'error.UPSTREAM_UNAVAILABLE': 'YouTube liefert zurzeit keine Zahlen.',
  'error.ZONE_UNKNOWN': 'Der Dienst kennt Ihre Zeitzone nicht. Stellen Sie am System eine andere ein.',
  'error.VALUE_NOT_FOUND': 'Kein Preis hat diesen Wert. Bitte einen anderen wählen.',
  'error.VALUE_TYPE': 'Kein Preis hat diesen Wert. Bitte einen anderen wählen.',
  'error.VIDEO_NOT_IN_COLLECTION': 'Dieses Video gehört nicht mehr zur Kampagne.',
  'error.refused': 'Der Dienst hat das abgelehnt ({code}). Seite neu laden und noch einmal versuchen.',
  'error.unavailable': 'Der Dienst kann das zurzeit nicht ({code}). Gleich noch einmal versuchen.',
  'error.input': 'Der Dienst nimmt diese Eingabe nicht an. Seite neu laden und noch einmal versuchen.',
  'error.dashboard': 'Das Dashboard antwortet nicht. Gleich noch einmal versuchen.',

  'field.videoLink': 'Einer der Links führt nicht zu einem YouTube-Video. Bitte korrigieren oder entfernen: {link}',
  'field.video': 'Einer der Links führt nicht zu einem YouTube-Video. Bitte korrigieren oder entfernen.',
  'field.videos': 'Eine Kampagne hat höchstens 1.000 Videos. Bitte weniger Links verwenden.',
  'field.name': 'Der Name braucht 1 bis 200 sichtbare Zeichen.',
  'field.tags': 'Höchstens 50 Tags mit je höchstens 50 Zeichen, ohne Steuerzeichen.',
  'field.from': 'Bitte den ersten Tag im Kalender wählen.',
  'field.to': 'Bitte den letzten Tag im Kalender wählen.',
  'field.cost': 'Die Kosten als Zahl von 0 bis 1.000.000.000.000.000 schreiben.',
  'field.currency': 'Bitte eine Währung wählen, die der Dienst kennt.',
  'field.days': 'Bitte wählen, wie viele Tage der Link gilt: 1 bis 365.',
  'field.token': 'Bitte ein Token eingeben.',
  'field.campaign': 'Das ist nicht die Adresse einer Kampagne. Wurde sie vollständig kopiert?',
  'field.query': 'Diese Adresse enthält eine Suche, die der Dienst nicht kennt. Bitte aus der Adresse entfernen.',
}
