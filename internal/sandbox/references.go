package sandbox

import (
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

func (s *Service) references(r *request) (response, error) {
	all := state.AllReferences()
	switch r.dialect.References {
	case dialect.ReferencesApplicationTypes:
		return ok(map[string]any{
			"application_types": all.MandateTypes, "country_codes": all.Countries, "documents": all.DocumentTypes,
		}), nil
	case dialect.ReferencesMap:
		return ok(referenceMaps(all)), nil
	case dialect.ReferencesFlat:
		return ok(flatReferences(all)), nil
	}
	lists := map[string]any{
		"mandate_types": all.MandateTypes, "countries": all.Countries, "document_types": all.DocumentTypes,
	}
	switch r.dialect.References {
	case dialect.ReferencesStringIDs:
		r.dialect.IDs = dialect.IDsString
	case dialect.ReferencesData:
		lists = map[string]any{"data": lists}
	}
	return ok(lists), nil
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
