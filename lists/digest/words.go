package digest

// words are a digest's own, in one language.
type words struct {
	topics string // heading of the table of contents
	footer string // subject of the footer in a plain digest
	// left stands for a part that was left out: type, name (with a blank before it) and
	// size in KiB.
	left string
	cut  string // under a text that was cut: size of the rest in KiB
	lost string // in place of a post: its number
	torn string // in place of a post whose structure nobody reads
}

// table has the words by language.
var table = map[string]words{
	"en": {
		"Today's Topics:", "Digest Footer", "[%s%s, %d KiB: not in the digest]", "[%d KiB more: not in the digest]",
		"[Post %d was lost before the digest was made.]", "[The structure of this post cannot be read; it is not in the digest.]",
	},
	"de": {
		"Themen:", "Fußtext", "[%s%s, %d KiB: nicht in der Sammlung]", "[noch %d KiB: nicht in der Sammlung]",
		"[Beitrag %d ging verloren, bevor die Sammlung entstand.]", "[Der Aufbau dieses Beitrags ist nicht lesbar; er fehlt in der Sammlung.]",
	},
	"es": {
		"Temas:", "Pie del resumen", "[%s%s, %d KiB: no está en el resumen]", "[%d KiB más: no están en el resumen]",
		"[El mensaje %d se perdió antes de hacer el resumen.]", "[No se puede leer la estructura de este mensaje; no está en el resumen.]",
	},
	"fr": {
		"Sujets :", "Pied du recueil", "[%s%s, %d Kio : absent du recueil]", "[encore %d Kio : absents du recueil]",
		"[Le message %d s'est perdu avant la composition du recueil.]", "[La structure de ce message est illisible ; il est absent du recueil.]",
	},
	"nl": {
		"Onderwerpen:", "Voettekst", "[%s%s, %d KiB: niet in de bundel]", "[nog %d KiB: niet in de bundel]",
		"[Bericht %d ging verloren voordat de bundel werd gemaakt.]", "[De opbouw van dit bericht is niet leesbaar; het staat niet in de bundel.]",
	},
	"zh_CN": {
		"本期主题：", "摘要页脚", "[%s%s，%d KiB：未收入摘要]", "[另有 %d KiB：未收入摘要]",
		"[第 %d 号帖子在制作摘要之前丢失。]", "[无法读取此帖子的结构，未收入摘要。]",
	},
}

func (i *Issue) words() words {
	if w, ok := table[i.Language]; ok {
		return w
	}
	return table["en"]
}
