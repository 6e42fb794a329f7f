package sandbox

import (
	"strconv"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

func (a *account) references(r *request) (response, error) {
	all := a.data.References
	switch r.dialect.References {
	case dialect.ReferencesApplicationTypes:
		return ok(map[string]any{
			"application_types": all.MandateTypes, "country_codes": all.Countries, "documents": all.DocumentTypes,
		}), nil
	case dialect.ReferencesMap:
		return ok(referenceMaps(all)), nil
	case dialect.ReferencesFlat:
		return ok(flatReferences(all)), nil
	case dialect.ReferencesPaged:
		return ok(pageOf(flatReferences(all), r.URL.Query().Get("page"))), nil
	}
	lists := map[string]any{
		"mandate_types": all.MandateTypes, "countries": all.Countries, "document_types": all.DocumentTypes,
	}
	switch r.dialect.References {
	case dialect.ReferencesStringIDs:
		r.dialect.IDs = dialect.IDsString
	case dialect.ReferencesData:
		lists = map[string]any{"data": lists}
	case dialect.ReferencesMoreLists:
		lists["application_roles"] = []any{map[string]any{"id": 3, "code": "reviewer", "name": "Reviewer"}}
		lists["mandate_channels"] = []any{map[string]any{"id": 5, "code": "app", "name": "Mobile app"}}
	}
	return ok(lists), nil
}

// pageOf is one page of a list, with the path of the next one.
func pageOf(list []map[string]any, number string) map[string]any {
	const size = 4
	page, _ := strconv.Atoi(number)
	page = max(1, page)
	from, to := min(len(list), (page-1)*size), min(len(list), page*size)
	body := map[string]any{"count": len(list), "next": nil, "results": list[from:to]}
	if to < len(list) {
		body["next"] = apiPrefix + "/ext/references?page=" + strconv.Itoa(page+1)
	}
	return body
}

// referenceMaps maps codes to names. Mandate types keep their ids, which are the only documented ones.
func referenceMaps(all state.References) map[string]any {
	types := map[string]any{}
	countries := map[string]string{}
	documents := map[string]string{}
	for _, t := range all.MandateTypes {
		types[t.Code] = map[string]any{"id": t.ID, "name": t.Name, "description": t.Description}
	}
	for _, country := range all.Countries {
		countries[country.Code] = country.Name
	}
	for _, document := range all.DocumentTypes {
		documents[document.Code] = document.Name
	}
	return map[string]any{"mandate_types": types, "countries": countries, "document_types": documents}
}

func flatReferences(all state.References) []map[string]any {
	var flat []map[string]any
	for _, t := range all.MandateTypes {
		flat = append(flat, map[string]any{
			"type": "mandate_type", "id": t.ID, "code": t.Code, "name": t.Name, "description": t.Description,
		})
	}
	for _, country := range all.Countries {
		flat = append(flat, map[string]any{"type": "country", "code": country.Code, "name": country.Name})
	}
	for _, document := range all.DocumentTypes {
		flat = append(flat, map[string]any{
			"type": "document_type", "id": document.ID, "code": document.Code, "name": document.Name,
		})
	}
	return flat
}
